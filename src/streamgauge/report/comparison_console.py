"""A comparison on the console: a matrix for each operation and temperature; fits 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from streamgauge.report.comparison_words import (
    LEGEND,
    OPERATION_NAMES,
    TEMPERATURE_MEANINGS,
    bytes_text,
    interval_text,
    library_text,
    percent_text,
    place_text,
    verdict_mark,
)
from streamgauge.report.old_shape import Document
from streamgauge.report.quantities import NOTHING, count_text, digits_text

_STYLES = {"A faster": "green", "B faster": "blue", "equivalent": "bold", "inconclusive": "dim"}
_WARNED = 6
"""Comparisons whose warnings are shown; the report has all."""


def print_comparison(document: Document, console: Console) -> None:
    conditions, rows = document["comparison"], document["comparisons"]
    console.print(Text.assemble(("A ", "bold green"), library_text(conditions["a"])))
    console.print(Text.assemble(("B ", "bold blue"), library_text(conditions["b"])))
    console.print(Text(_conditions_text(conditions), "dim"))
    for note in conditions["notes"]:
        console.print(Padding(Text(f"• {note}", "yellow"), (0, 0, 0, 2)))
    for operation, temperature, found in by_matrix(rows):
        name = f"{OPERATION_NAMES[operation]}, {temperature}"
        console.print()
        console.print(Text.assemble((name, "bold"), (f"  {TEMPERATURE_MEANINGS[temperature]}", "dim")))
        console.print(_matrix("A/B %", conditions, found, _ratio_cell))
        console.print(_matrix("mean (SD) %", conditions, found, _mean_cell))
    console.print()
    console.print(Text(LEGEND, "dim"))
    _print_summary(rows, console)


def by_matrix(rows: list[Document]) -> Iterator[tuple[str, str, dict[tuple[int, int], Document]]]:
    """Operation, temperature, and the rows of that matrix by (messages, length), in the order of the rows."""
    places = dict.fromkeys((row["operation"], row["temperature"]) for row in rows)
    for operation, temperature in places:
        yield (
            operation,
            temperature,
            {
                (row["messages"], row["length"]): row
                for row in rows
                if (row["operation"], row["temperature"]) == (operation, temperature)
            },
        )


def _conditions_text(conditions: Document) -> str:
    parts = [
        f"{conditions['repeat']} repetitions, interleaved with an A/A control",
        f"preset {conditions['preset']}",
        f"acks {conditions['acks']}",
        "a process each" if conditions["process"] == "own" else "one process for all",
    ]
    return " · ".join(parts)


def _matrix(
    title: str,
    conditions: Document,
    found: dict[tuple[int, int], Document],
    cell: Callable[[Document], Text],
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(title, no_wrap=True)
    for length in conditions["lengths"]:
        table.add_column(bytes_text(length), justify="right")
    for messages in conditions["message_counts"]:
        cells = [found.get((messages, length)) for length in conditions["lengths"]]
        table.add_row(f"{count_text(messages)} msg", *(cell(row) if row else NOTHING for row in cells))
    return table


def _ratio_cell(row: Document) -> Text:
    style = "red" if row["status"] != "ok" or row["is_tainted"] else _STYLES[row["verdict"]]
    text = Text(f"{percent_text(row['ratio_percent']['median'])} {verdict_mark(row)}", style)
    return text.append(f"\n{interval_text(row['interval_percent'])}", "dim")


def _mean_cell(row: Document) -> Text:
    ratios = row["ratio_percent"]
    return Text(f"{percent_text(ratios['mean'])} ({percent_text(ratios['sd'])})")


def _print_summary(rows: list[Document], console: Console) -> None:
    tally = Counter(row["verdict"] for row in rows)
    verdicts = " · ".join(f"{count} {verdict}" for verdict, count in tally.most_common())
    missing = sum(row["accounting"]["missing"] for row in rows)
    expected = sum(row["accounting"]["expected"] for row in rows)
    tainted = sum(row["is_tainted"] for row in rows)
    console.print(f"verdicts     {verdicts}", highlight=False)
    style = "bold red" if missing else "green"
    console.print(Text(f"messages     {count_text(missing)} missing of {count_text(expected)}", style))
    held = f"control      held in {len(rows) - tainted} of {len(rows)}"
    console.print(Text(held, "bold red" if tainted else "green"))
    if calls := _calls(rows):
        console.print(f"JNI          {calls}", highlight=False)
    for row in [row for row in rows if row["status"] != "ok"]:
        console.print(Text(f"✗ {place_text(row)}: {'; '.join(row['reasons'])}", "red"))
    warned = [row for row in rows if row["warnings"]]
    for row in warned[:_WARNED]:
        console.print(Text(f"! {place_text(row)}: {row['warnings'][0]}", "yellow"))
    if len(warned) > _WARNED:
        console.print(Text(f"! {len(warned) - _WARNED} more have warnings: see the report", "yellow"))


def _calls(rows: list[Document]) -> str:
    """The range over all rows, for each library that crosses into Java."""
    parts = []
    for side in ("a", "b"):
        for name, what in (
            ("jni_calls_per_message", "JNI calls"),
            ("crossings_per_message", "calls across"),
        ):
            known = [row[name][side] for row in rows if row[name][side] is not None]
            if known:
                parts.append(
                    f"{side.upper()}: {digits_text(min(known))} to {digits_text(max(known))} {what} a message"
                )
    return " · ".join(parts)
