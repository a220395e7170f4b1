"""`streamgauge results [RUN]`: the figures, for people or for programs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from streamgauge.cli.options import RUN_WORDS, Debug, Out
from streamgauge.cli.run_names import complete_run
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by


@told_by(
    "streamgauge results",
    "streamgauge results nightly --json",
    "streamgauge results latest~1 --messages > messages.csv",
)
def results_command(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help=f"{RUN_WORDS}; by default the newest run.",
            show_default=False,
            autocompletion=complete_run,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document (docs/results.md).")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one row per case.")] = False,
    messages: Annotated[
        bool, typer.Option("--messages", help="Print CSV with one row per message and all its times.")
    ] = False,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Show the results of a run."""
    from streamgauge.cli.finding import find_run, newest_run
    from streamgauge.report.console_renderer import print_shown
    from streamgauge.report.csv_files import results_csv
    from streamgauge.report.document import document_text
    from streamgauge.report.message_csv import write_messages
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.results import answered_document
    from streamgauge.report.write import shown_of

    if as_json + as_csv + messages > 1:
        raise BadInput("--json, --csv and --messages: give one of them")
    found = newest_run(out) if run is None else find_run(run, out)
    if run is None:
        typer.echo(f"run {found.id}", err=True)
    if messages:
        sys.stdout.flush()
        write_messages(found, sys.stdout.buffer)
        return
    tables = ResultTables.read(found)
    document = answered_document(found, tables)
    if as_json:
        typer.echo(document_text(document), nl=False)
    elif as_csv:
        typer.echo(results_csv(document), nl=False)
    else:
        print_shown(shown_of(document, tables), Console())
