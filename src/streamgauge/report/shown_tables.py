"""Tables of what there is to see, as values: renderers write their numbers, align and mark them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from streamgauge.report.medium import EVERYWHERE, Medium, Tone

Value = str | int | float | bool | None


class Unit(StrEnum):
    """What a number is of; renderers write it with as many digits as say something."""

    TEXT = "text"
    COUNT = "count"
    MS = "ms"
    FINE_MS = "ms with microseconds"
    S = "s"
    US = "µs"
    NUMBER = "number"
    PERCENT = "%"
    PER_S = "/s"
    BYTES = "bytes"
    BYTES_PER_S = "bytes/s"
    BITS_PER_S = "bit/s"


@dataclass(frozen=True)
class Cell:
    value: Value
    tone: Tone = Tone.PLAIN
    is_doubtful: bool = False
    """Too little is behind it: it is marked with ~ and greyed."""
    link: str | None = None
    """The id of a section that it leads to."""
    is_pill: bool = False
    unit: Unit | None = None
    """When it is not the column's."""


@dataclass(frozen=True)
class Column:
    name: str
    unit: Unit = Unit.TEXT
    is_spare: bool = False
    """It is left out where there is no room."""


@dataclass(frozen=True)
class TableRow:
    cells: Sequence[Cell]
    is_beside: bool = False
    """Told beside the row above it: what somebody else found of the same."""


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[Column]
    rows: Sequence[TableRow]
    note: str | None = None
    name: str | None = None
    """It is a file of its own too: `csv/<name>.csv`, with all digits."""
    is_turned: bool = False
    """A narrow medium shows its rows as columns."""
    is_folded: bool = False
    where: frozenset[Medium] = EVERYWHERE


def row(*cells: Cell | Value, is_beside: bool = False) -> TableRow:
    """Plain values need no more than themselves."""
    return TableRow([cell if isinstance(cell, Cell) else Cell(cell) for cell in cells], is_beside)
