"""`streamgauge results RUN`: the figures, for people or for programs."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from streamgauge.cli.options import Debug, Run
from streamgauge.core.errors import BadInput


def results_command(
    run: Run,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document (docs/results.md).")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="One row a case.")] = False,
    debug: Debug = False,
) -> None:
    """Show the results of a run."""
    from streamgauge.cli.finding import find_run
    from streamgauge.report.console_renderer import print_shown
    from streamgauge.report.csv_files import results_csv
    from streamgauge.report.document import document_text
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.results import results_document
    from streamgauge.report.write import shown_of

    if as_json and as_csv:
        raise BadInput("--json and --csv: give one of them")
    found = find_run(run)
    tables = ResultTables.read(found)
    document = results_document(found, tables)
    if as_json:
        typer.echo(document_text(document), nl=False)
    elif as_csv:
        typer.echo(results_csv(document), nl=False)
    else:
        print_shown(shown_of(document, tables), Console())
