"""`streamgauge check RUN --expect FILE`: a gate for CI. Pass, fail, or nobody can say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.diff import BetweenRuns, ConfidencePercent
from streamgauge.cli.exit_codes import NOT_DECIDABLE_EXIT_CODE, NOT_OK_EXIT_CODE
from streamgauge.cli.options import Debug, Out, Quiet, Run
from streamgauge.cli.run_names import complete_run
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by


@told_by(
    "streamgauge check latest --expect expectations.yaml",
    "streamgauge check latest --expect expectations.yaml --baseline main --junit junit.xml",
)
def check_command(
    run: Run,
    expect: Annotated[
        Path,
        typer.Option("--expect", metavar="FILE", help="What you expect: objectives, baseline (docs/ci.md)."),
    ],
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN",
            help="The run to compare with; separate repeats by commas.",
            show_default=False,
            autocompletion=complete_run,
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.", show_default=False)
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="Write a summary as Markdown.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document (docs/ci.md).")] = False,
    confidence: ConfidencePercent = 95.0,
    between_runs: BetweenRuns = None,
    out: Out = "runs",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check a run against expectations: exit code 0 pass, 1 fail, 5 inconclusive."""
    from rich.console import Console

    from streamgauge.cli.diff import side_of
    from streamgauge.cli.finding import find_run
    from streamgauge.comparing.check import check_document
    from streamgauge.comparing.check_show import junit_xml, show_check
    from streamgauge.comparing.expectations import load_expectations
    from streamgauge.core.outcomes import Outcome
    from streamgauge.plan.plan_file import read_plan
    from streamgauge.report.console_renderer import print_shown
    from streamgauge.report.markdown_renderer import shown_markdown

    found = find_run(run, out)
    expectations = load_expectations(expect, read_plan(found).kind)
    if expectations.baseline and baseline is None:
        raise BadInput(f"{expect}: baseline: name the run to compare with: --baseline RUN")
    if baseline is not None and not expectations.baseline:
        raise BadInput(
            f"{expect}: --baseline {baseline}: nothing is expected against it; "
            "add baseline: [p99<120%], or leave the flag out"
        )
    document = check_document(
        found,
        expectations,
        [] if baseline is None else side_of(baseline, out),
        confidence=confidence / 100,
        between_runs_percent=between_runs,
    )
    shown = show_check(document)
    for file, content in ((junit, junit_xml(document)), (markdown, shown_markdown(shown))):
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")
    if as_json:
        typer.echo(document.model_dump_json(indent=1))
    elif not quiet:
        print_shown(shown, Console())
    codes = {Outcome.MISSED: NOT_OK_EXIT_CODE, Outcome.NOT_DECIDABLE: NOT_DECIDABLE_EXIT_CODE}
    raise typer.Exit(codes.get(document.outcome, 0))
