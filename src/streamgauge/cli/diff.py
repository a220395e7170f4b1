"""`streamgauge diff BASE NEW…`: what is different between runs, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import Debug, Out
from streamgauge.cli.run_names import complete_run
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from pydantic import BaseModel

    from streamgauge.comparing.measured import MeasuredRun
    from streamgauge.report.shown import Shown

_BETWEEN = ","

ConfidencePercent = Annotated[
    float,
    typer.Option(
        "--confidence", metavar="PERCENT", help="Confidence of intervals and verdicts.", min=50, max=99.9999
    ),
]
BetweenRuns = Annotated[
    float | None,
    typer.Option(
        "--between-runs",
        metavar="PERCENT",
        help="How much runs of the same workload differ (SD), if repeats do not show it.",
        show_default="learned from earlier runs, otherwise 3",
        min=0,
        max=100,
    ),
]


@told_by(
    "streamgauge diff before-upgrade latest",
    "streamgauge diff a1,a2,a3 b1,b2,b3 --html diff.html",
    "streamgauge diff --history latest",
)
def diff_command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="BASE NEW…",
            help="Runs: folders, names or the start of them, tags, latest, latest~1; separate "
            "repeats of one side by commas.",
            show_default=False,
            autocompletion=complete_run,
        ),
    ],
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Find where a level changed over these runs; with one run, over all earlier "
            "runs of its workload.",
        ),
    ] = False,
    confidence: ConfidencePercent = 95.0,
    between_runs: BetweenRuns = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document (docs/diff.md).")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Also write an HTML page.", show_default=False, dir_okay=False
        ),
    ] = None,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Compare runs: ratio, interval and verdict, case by case."""
    if as_json and as_markdown:
        raise BadInput("--json and --markdown: give one of them")
    document, shown = (
        _history(runs, out) if history else _differences(runs, out, confidence / 100, between_runs)
    )
    if html is not None:
        _write_page(html, shown)
    _tell(document, shown, as_json=as_json, as_markdown=as_markdown)


def _differences(
    runs: list[str], out: str, confidence: float, percent: float | None
) -> tuple[BaseModel, Shown]:
    from streamgauge.comparing.differences import diff_document
    from streamgauge.comparing.show import show_diff

    if len(runs) < 2:
        raise BadInput("diff: give a base and at least one other run; with --history one is enough")
    base, *new = (side_of(text, out) for text in runs)
    document = diff_document(base, new, confidence=confidence, between_runs_percent=percent)
    return document, show_diff(document)


def _history(runs: list[str], out: str) -> tuple[BaseModel, Shown]:
    from streamgauge.cli.finding import find_run
    from streamgauge.comparing.histories import history_document
    from streamgauge.comparing.history_show import show_history
    from streamgauge.comparing.series import series_up_to
    from streamgauge.core.run_dir import runs_in

    if len(runs) == 1:
        newest = find_run(runs[0], out)
        found = series_up_to(newest, runs_in(newest.parent))
    else:
        found = [run for text in runs for run in side_of(text, out)]
    document = history_document(found)
    return document, show_history(document)


def side_of(text: str, out: str) -> list[MeasuredRun]:
    """A run, or several that are repeats of each other."""
    from streamgauge.cli.finding import find_run
    from streamgauge.comparing.measured import measured_run

    names = [name.strip() for name in text.split(_BETWEEN) if name.strip()]
    if not names:
        raise BadInput(f"diff: {text!r} names no run")
    return [measured_run(find_run(name, out)) for name in names]


def _write_page(file: Path, shown: Shown) -> None:
    from streamgauge.report.page_renderer import render_page

    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(render_page(shown, None), "utf-8")
    typer.echo(f"page: {file}", err=True)


def _tell(document: BaseModel, shown: Shown, *, as_json: bool, as_markdown: bool) -> None:
    from rich.console import Console

    from streamgauge.report.console_renderer import print_shown
    from streamgauge.report.markdown_renderer import shown_markdown

    if as_json:
        typer.echo(document.model_dump_json(indent=1))
    elif as_markdown:
        typer.echo(shown_markdown(shown), nl=False)
    else:
        print_shown(shown, Console())
