"""`streamgauge analyze RUN`: results again, from the events."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from streamgauge.cli.options import Debug, Master, Out, Run, SecretFile
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir


@told_by("streamgauge analyze latest", "streamgauge analyze RUN --master spark://10.0.0.1:7077")
def analyze_command(
    run: Run,
    master: Master = None,
    secret_file: SecretFile = None,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Recompute the results of a run from its events."""
    from streamgauge.cli.finding import find_run

    found = find_run(run, out)
    analyze_run(found, master, debug=debug)
    typer.echo(f"results: {found.url('results')}", err=True)


def analyze_run(found: RunDir, master: str | None, *, debug: bool) -> None:
    """Spark is started only when there is so much that it helps."""
    from rich.console import Console

    from streamgauge.analysis.pipeline import analyze_with
    from streamgauge.core.stages import Stage, Stages
    from streamgauge.core.status import in_use
    from streamgauge.launch.spark_session import spark_session
    from streamgauge.launch.stage_line import StageLine
    from streamgauge.recording.salvage import salvage

    if found.has(found.status) and in_use(found) is None:
        found.remove_unfinished()
    salvage(found)
    log: Path | None = None
    if not debug:
        log = found.local(found.log("spark")) if found.is_local else Path(os.devnull)
        log.parent.mkdir(parents=True, exist_ok=True)
    stages = Stages(StageLine(Console(stderr=True)))
    stages.enter(Stage.ANALYSING)
    with ExitStack() as begun:
        begun.callback(stages.end)
        analyze_with(lambda: begun.enter_context(spark_session(master or "local[*]", log=log)), found)
