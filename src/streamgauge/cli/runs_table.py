"""The list of runs as a table for a console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from streamgauge.report.listed_runs import Listed, verdict_tone
from streamgauge.report.medium import Tone
from streamgauge.report.quantities import NOTHING

_COLOURS = {Tone.GOOD: "green", Tone.PLAIN: "blue", Tone.WARN: "yellow", Tone.BAD: "red"}
_AT_WILL = ("objectives", "tags", "why")
"""Columns that are left out when they say nothing of any run."""
_SPARE = ("why", "size", "cases", "target", "age", "rate", "status")
"""Where there is no room, the first of them goes first."""


def runs_table(found: Sequence[Listed], width: int) -> Group:
    """What there is no room for is left out, but for why a run is not well: that stands below."""
    columns = _columns(found)
    notes: list[Text] = []
    for name in _SPARE:
        if name in columns and _width(columns) > width:
            del columns[name]
            if name == "why":
                notes = [Text(f"{each.run.id}: {each.why}") for each in found if each.why]
    table = Table(*columns, box=None, padding=(0, 1, 0, 0))
    for column in table.columns:
        column.overflow = "fold"
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return Group(table, *notes)


def _width(columns: Mapping[str, Sequence[Text]]) -> int:
    return sum(max(cell_len(name), *(cell.cell_len for cell in cells)) + 1 for name, cells in columns.items())


def _columns(found: Sequence[Listed]) -> dict[str, list[Text]]:
    columns = {
        "run": [Text(each.run.id) for each in found],
        "status": [Text(each.state, _COLOURS[each.tone]) for each in found],
        "target": [Text(each.target) for each in found],
        "rate": [Text(each.rate, justify="right") for each in found],
        "p50 ms": [Text(each.p50_ms, justify="right") for each in found],
        "p99 ms": [Text(each.p99_ms, justify="right") for each in found],
        "integrity": [_verdict(each.verdicts[0]) for each in found],
        "validity": [_verdict(each.verdicts[1]) for each in found],
        "objectives": [_verdict(each.verdicts[2]) for each in found],
        "cases": [Text(each.cases) for each in found],
        "age": [Text(each.age, justify="right") for each in found],
        "size": [Text(each.size, justify="right") for each in found],
        "tags": [Text(", ".join(each.tags)) for each in found],
        "why": [Text(each.why) for each in found],
    }
    for name in _AT_WILL:
        if all(cell.plain in ("", NOTHING) for cell in columns[name]):
            del columns[name]
    return columns


def _verdict(word: str) -> Text:
    return Text(word, _COLOURS[verdict_tone(word)])
