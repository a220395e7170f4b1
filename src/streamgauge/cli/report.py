"""`streamgauge report RUN`: the report again, from the results."""

from __future__ import annotations

import typer

from streamgauge.cli.finding import find_run
from streamgauge.cli.options import Debug, Run
from streamgauge.report.write import write_report


def report_command(run: Run, debug: Debug = False) -> None:
    """Write the report of a run again from its results."""
    typer.echo(write_report(find_run(run)))
