"""The limit on the console: one sentence, and a row for every rate; fits 80 columns."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.report.limit_words import limit_sentence, step_statistics, verdict_text
from streamgauge.report.old_shape import Document
from streamgauge.report.quantities import digits_text, rate_per_s_text
from streamgauge.report.words import limit_text

_STYLES = {True: "green", False: "red", None: "yellow"}


def print_limit(document: Document, console: Console) -> None:
    limit = document["limit"]
    held = limit["held_per_s"] is not None
    console.print(Text(limit_sentence(limit), "bold green" if held else "bold red"))
    console.print(Text(f"Ended: {limit['ending_reason']}.", "dim"))
    console.print(Text(f"Bottleneck: {limit_text(limit)}"))
    console.print()
    console.print(_steps(document))


def _steps(document: Document) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.title, table.title_justify = "Steps (latency in ms from the intended time)", "left"
    for name in ("rate", "p50", "p99", "p99.9", "max", "delivered"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("trials")
    table.add_column("verdict", no_wrap=True)
    for step in document["limit"]["steps"]:
        statistics = step_statistics(document, step)
        table.add_row(
            rate_per_s_text(step["rate_per_s"]),
            *(digits_text(statistics[name]) for name in ("p50", "p99", "p99_9", "max")),
            rate_per_s_text(statistics["delivered_per_s"]),
            _trials(step),
            Text(verdict_text(step), _STYLES[step["holds"]]),
        )
    return table


def _trials(step: Document) -> Text:
    marks = ((f"{trial['case']}{'✓' if trial['holds'] else '✗'}", trial["holds"]) for trial in step["trials"])
    return Text(" ").join(Text(mark, _STYLES[holds]) for mark, holds in marks)
