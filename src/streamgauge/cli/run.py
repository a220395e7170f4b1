"""`streamgauge run WORKLOAD.yaml`: the one engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.options import Debug, Master, Out, Quiet
from streamgauge.cli.running import run_workload
from streamgauge.spec.loading import dump_yaml, load_workload


def run_command(
    workload: Annotated[Path, typer.Argument(metavar="WORKLOAD.yaml", help="The load wanted, and where.")],
    out: Out = "runs",
    master: Master = None,
    print_workload: Annotated[
        bool, typer.Option("--print-workload", help="Show the workload as it was understood; run nothing.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a workload, analyse it, and write the report."""
    loaded = load_workload(workload)
    if print_workload:
        typer.echo(dump_yaml(loaded), nl=False)
        return
    raise typer.Exit(run_workload(loaded, out=out, master=master, quiet=quiet, debug=debug))
