"""`streamgauge verify RUN`: was anything lost, written twice, out of order? With places to look at."""

from __future__ import annotations

from typing import Annotated

import typer

from streamgauge.cli.exit_codes import NOT_DECIDABLE_EXIT_CODE, NOT_OK_EXIT_CODE
from streamgauge.cli.options import Debug, Master, Out, Quiet, Run
from streamgauge.flags.groups import told_by


@told_by("streamgauge verify latest", "streamgauge verify latest --strict --quiet")
def verify_command(
    run: Run,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document (docs/faults.md).")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Also fail for what the settings allow, such as duplicates.")
    ] = False,
    master: Master = None,
    out: Out = "runs",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Verify a run's log: exit code 0 every promise kept, 1 one is broken, 5 not decidable."""
    from rich.console import Console

    from streamgauge.cli.analyze import analyze_run
    from streamgauge.cli.finding import find_run
    from streamgauge.core.errors import BadInput
    from streamgauge.report.result_tables import read_verification
    from streamgauge.report.verification_show import print_verification

    found_run = find_run(run, out)
    found = read_verification(found_run)
    if found is None:
        # Of an older version, or not analysed yet.
        analyze_run(found_run, master, debug=debug)
        found = read_verification(found_run)
    if found is None:
        raise BadInput(f"{found_run.location}: runs of its kind have no log of messages to verify")
    if as_json:
        typer.echo(found.model_dump_json(indent=1))
    elif not quiet:
        print_verification(found, Console())
    is_good = not any(case.findings for case in found.cases) if strict else found.is_good
    if not is_good:
        raise typer.Exit(NOT_OK_EXIT_CODE)
    raise typer.Exit(0 if found.is_decided else NOT_DECIDABLE_EXIT_CODE)
