"""`streamgauge report RUN`: the report again, from the results."""

from __future__ import annotations

import typer

from streamgauge.cli.options import Debug, Out, Run
from streamgauge.flags.groups import told_by


@told_by("streamgauge report latest", "streamgauge report nightly --out hdfs://namenode:8020/runs")
def report_command(run: Run, out: Out = "runs", debug: Debug = False) -> None:
    """Rewrite the report of a run from its results."""
    from streamgauge.cli.finding import find_run
    from streamgauge.cli.reporting import report_of

    _, _, page = report_of(find_run(run, out))
    typer.echo(page)
