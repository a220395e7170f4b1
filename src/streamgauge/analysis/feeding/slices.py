"""Slices: large runs cut up so that each piece can be joined by itself, without a shuffle.

Events lie in files in the order in which they happened, and Parquet keeps the least and the greatest
sequence of every row group. So the messages of a case from one sequence to another, and their records, are
in a few row groups that are known without reading. Where they are not, because there are many producers or
a consumer read in another order, slices would read the same rows again and again: then they are put in order
first (feeding/packing).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.tables.events import RECEIVES, SENDS

BEYOND = 1 << 62
"""More than any sequence."""


@dataclass(frozen=True)
class Cutting:
    """How cases are cut into pieces."""

    block: int = 131_072
    """Pieces end at multiples of so many sequences: as many rows as agents write at a time."""
    rows: int = 8 * 131_072
    """Sends of a piece."""
    most_rows: int = 6 * 8 * 131_072
    """Sends and receives of a piece: what a task can hold in memory."""
    most_read: float = 2.0
    """How often a row may be read, on average."""
    most_buckets: int = 1_000_000
    """Of a leg, that a task holds at once."""

    def width(self, producers: int, sends: int) -> int:
        """How many sequences make a piece of a case with so many producers and sends."""
        return BEYOND if sends <= self.rows else max(1, self.rows // (producers * self.block)) * self.block


USUAL = Cutting()
FINE = Cutting(rows=2 * 131_072)
"""Where there is little: as many pieces as there are cores, and more."""


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
    intended_ns: tuple[int, int] | None = None
    offsets: tuple[int, int] | None = None
    is_unplaced: bool = False
    """The file says that none of them has an offset: all failed, or nobody said where they are."""


@dataclass(frozen=True)
class Slice:
    """Messages of a case with sequences in [low, high), and where their events are."""

    case: str
    low: int
    high: int
    sends: tuple[RowGroup, ...]
    receives: tuple[RowGroup, ...]
    producers: tuple[int, int] | None = None
    """Of these only, from … to before …; None: of all."""

    @property
    def rows(self) -> int:
        return sum(group.rows for group in (*self.sends, *self.receives))


def row_groups(table: str, case: str, file: str, metadata: Any) -> Iterator[RowGroup]:
    """From a Parquet file's metadata."""
    places = {metadata.schema.column(n).name: n for n in range(metadata.num_columns)}
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        producers, sequences, intended_ns, offsets = (
            _range(group.column(places[name])) if name in places else None
            for name in ("producer", "sequence", "intended_ns", "offset")
        )
        is_unplaced = "offset" in places and _is_null(group.column(places["offset"]), group.num_rows)
        rows = group.num_rows
        yield RowGroup(
            table, case, file, number, rows, producers, sequences, intended_ns, offsets, is_unplaced
        )


def by_case(groups: Iterable[RowGroup]) -> dict[str, list[RowGroup]]:
    """Of cases that have any; to look through all of them for each case would be the square of the work."""
    found: dict[str, list[RowGroup]] = defaultdict(list)
    for group in groups:
        found[group.case].append(group)
    return found


def plan_slices(groups: Sequence[RowGroup], cutting: Cutting = USUAL) -> list[Slice] | None:
    """All messages of a run in slices; None when its events are not in order."""
    groups = [group for group in groups if group.table in (SENDS.name, RECEIVES.name)]
    if any(group.sequences is None or group.producers is None for group in groups):
        return None
    slices = [one for case, own in sorted(by_case(groups).items()) for one in _slices(case, own, cutting)]
    wanted = sum(group.rows for group in groups)
    read = sum(one.rows for one in slices)
    is_held = all(one.rows <= cutting.most_rows for one in slices)
    is_orderly = is_held and read <= cutting.most_read * wanted
    return slices if is_orderly else None


def _slices(case: str, groups: Sequence[RowGroup], cutting: Cutting) -> Iterator[Slice]:
    sends = [group for group in groups if group.table == SENDS.name]
    receives = [group for group in groups if group.table == RECEIVES.name]
    producers = 1 + max((_last(group.producers) for group in sends), default=0)
    end = 1 + max((_last(group.sequences) for group in sends), default=0)
    width = cutting.width(producers, sum(group.rows for group in sends))
    for low in range(0, end, width):
        # Records of messages before the first and beyond the last one, of which no send was recorded, are
        # of the first and of the last slice.
        ends = (low if low else -BEYOND, low + width if low + width < end else BEYOND)
        own, read = (tuple(_within(among, *ends)) for among in (sends, receives))
        if own or read:
            yield Slice(case, *ends, own, read)


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


def _is_null(column: Any, rows: int) -> bool:
    """Every value, by the file's own account; without statistics nobody knows."""
    known = column.statistics
    return bool(known is not None and known.has_null_count and known.null_count == rows)
