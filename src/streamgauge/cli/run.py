"""`streamgauge run WORKLOAD.yaml`: the one engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.options import (
    Debug,
    Live,
    LiveBootstrap,
    Master,
    Out,
    Quiet,
    Resume,
    SecretFile,
)
from streamgauge.core.errors import BadInput
from streamgauge.flags.options import Slo
from streamgauge.launch.live_wish import LiveMode, LiveWish


def run_command(
    workload: Annotated[
        Path | None,
        typer.Argument(metavar="WORKLOAD.yaml", help="The load wanted, and where.", show_default=False),
    ] = None,
    slo: Slo = None,
    resume: Resume = None,
    out: Out = "runs",
    master: Master = None,
    secret_file: SecretFile = None,
    live: Live = LiveMode.auto,
    live_bootstrap: LiveBootstrap = None,
    print_workload: Annotated[
        bool, typer.Option("--print-workload", help="Show the workload as it was understood; run nothing.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a workload, analyse it, and write the report."""
    from streamgauge.cli.running import Manner, resume_run, run_or_print
    from streamgauge.cli.slo import not_with_resume, with_objectives
    from streamgauge.spec.loading import load_workload

    if (workload is None) == (resume is None):
        raise BadInput("run: give a workload, or --resume and a run")
    how = Manner(master=master, live=LiveWish(live, live_bootstrap), quiet=quiet, debug=debug)
    if resume is not None:
        not_with_resume(slo)
        raise typer.Exit(resume_run(resume, **how))
    assert workload is not None
    loaded = with_objectives(load_workload(workload), slo)
    raise typer.Exit(run_or_print(loaded, only_print=print_workload, out=out, **how))
