"""Slices: large runs cut up so that each piece can be joined by itself, without a shuffle.

Events lie in files in the order in which they happened, and Parquet keeps the least and the greatest
sequence of every row group. So the messages of a case from one sequence to another, and their records, are
in a few row groups that are known without reading. Where they are not, because there are many producers or
a consumer read in another order, slices would read the same rows again and again, and there is no plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.tables.events import RECEIVES, SENDS

BLOCK = 131_072
"""Slices end at multiples of it: as many rows as agents write at a time."""
_SLICE_ROWS = 8 * BLOCK
_MOST_ROWS = 3 * _SLICE_ROWS
"""What a task holds in memory at a time."""
BEYOND = 1 << 62
"""More than any sequence."""
_MOST_READ = 2.0
"""How often a row may be read, on average."""


@dataclass(frozen=True)
class RowGroup:
    """Of an event file."""

    table: str
    case: str
    file: str
    number: int
    rows: int
    producers: tuple[int, int] | None
    sequences: tuple[int, int] | None
    """Least and greatest; None when the file does not say."""


@dataclass(frozen=True)
class Slice:
    """Messages of a case with sequences in [low, high), and where their events are."""

    case: str
    low: int
    high: int
    sends: tuple[RowGroup, ...]
    receives: tuple[RowGroup, ...]

    @property
    def rows(self) -> int:
        return sum(group.rows for group in (*self.sends, *self.receives))


def row_groups(table: str, case: str, file: str, metadata: Any) -> Iterator[RowGroup]:
    """From a Parquet file's metadata."""
    places = {metadata.schema.column(n).name: n for n in range(metadata.num_columns)}
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        producers, sequences = (
            _range(group.column(places[name])) if name in places else None
            for name in ("producer", "sequence")
        )
        yield RowGroup(table, case, file, number, group.num_rows, producers, sequences)


def plan_slices(groups: Sequence[RowGroup]) -> list[Slice] | None:
    """All messages of a run in slices; None when its events are not in order."""
    groups = [group for group in groups if group.table in (SENDS.name, RECEIVES.name)]
    if any(group.sequences is None or group.producers is None for group in groups):
        return None
    by_case: dict[str, list[RowGroup]] = defaultdict(list)
    for group in groups:
        by_case[group.case].append(group)
    slices = [one for case, own in sorted(by_case.items()) for one in _slices(case, own)]
    wanted = sum(group.rows for group in groups)
    read = sum(one.rows for one in slices)
    is_orderly = read <= _MOST_READ * wanted and all(one.rows <= 2 * _MOST_ROWS for one in slices)
    return slices if is_orderly else None


def _slices(case: str, groups: Sequence[RowGroup]) -> Iterator[Slice]:
    sends = [group for group in groups if group.table == SENDS.name]
    if not sends:
        return
    receives = [group for group in groups if group.table == RECEIVES.name]
    producers = 1 + max(_last(group.producers) for group in sends)
    end = 1 + max(_last(group.sequences) for group in sends)
    is_one = sum(group.rows for group in groups) <= 2 * _SLICE_ROWS
    width = end if is_one else max(1, _SLICE_ROWS // (producers * BLOCK)) * BLOCK
    for low in range(0, end, width):
        # Records of messages beyond the last one, of which no send was recorded, are of the last slice.
        high = low + width if low + width < end else BEYOND
        own = tuple(_within(sends, low, high))
        if own:
            yield Slice(case, low, high, own, tuple(_within(receives, low, high)))


def _within(groups: Iterable[RowGroup], low: int, high: int) -> Iterator[RowGroup]:
    for group in groups:
        first, last = group.sequences or (low, low)
        if first < high and last >= low:
            yield group


def _last(ends: tuple[int, int] | None) -> int:
    return 0 if ends is None else ends[1]


def _range(column: Any) -> tuple[int, int] | None:
    known = column.statistics
    return (known.min, known.max) if known is not None and known.has_min_max else None
