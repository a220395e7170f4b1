"""Latencies of the buckets that tasks have written, a piece at a time.

Buckets of a leg lie together in each file, those of a second too, and only what a piece needs is read. A long
run has buckets of many seconds, and where producers share its messages out, many slices have buckets of the
same ones: so a piece has as many seconds as fit, and no task has to hold a whole leg.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.latency import SCOPE_OF_LEG, histogram, latency
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.results import LEGS

ROWS_A_GROUP = 16_384
"""Of a file of buckets: few enough that most row groups have buckets of one leg only."""

Seconds = tuple[int, int]
"""From … to before …"""


class BucketFile(NamedTuple):
    file: str
    rows: int
    seconds: Seconds | None
    """In which its messages were to be sent; None: it has no buckets of seconds."""

    @classmethod
    def of(cls, file: str, buckets: pa.Table) -> BucketFile:
        ends = pc.min_max(buckets["second"])
        first, last = ends["min"].as_py(), ends["max"].as_py()
        return cls(file, buckets.num_rows, None if first is None else (first, last + 1))


class LegPiece(NamedTuple):
    leg: str
    files: tuple[str, ...]
    rows: int
    seconds: Seconds | None
    is_whole: bool
    """Of all seconds, and of the scopes that are no second; else of `seconds`, or without any of those."""

    def wanted(self) -> pc.Expression:
        own, second = pc.field("leg") == self.leg, pc.field("second")
        if self.is_whole:
            return own
        if self.seconds is None:
            return own & second.is_null()
        first, end = self.seconds
        return own & (second >= first) & (second < end)


def leg_pieces(files: Sequence[BucketFile], most_rows: int) -> list[LegPiece]:
    """Of about so many rows each; those of a single second are never torn."""
    files = [file for file in files if file.rows]
    a_leg = sum(file.rows for file in files) // len(LEGS)
    everything = tuple(file.file for file in files)
    if a_leg <= most_rows:
        return [LegPiece(leg, everything, a_leg, None, True) for leg in LEGS]
    ranges = list(_ranges(files, -(-a_leg // most_rows)))
    pieces: list[LegPiece] = []
    for leg in LEGS:
        pieces.append(LegPiece(leg, everything, most_rows, None, False))
        for own in ranges:
            names = tuple(file.file for file in files if _overlap(file.seconds, own))
            pieces.append(LegPiece(leg, names, a_leg // len(ranges), own, False))
    return pieces


def _ranges(files: Sequence[BucketFile], count: int) -> Iterator[Seconds]:
    """All seconds, cut where they hold about as much: as if each file had as much of each of its own."""
    known = [(file.seconds, file.rows) for file in files if file.seconds is not None]
    if not known:
        return
    first, end = (np.array(side) for side in zip(*(seconds for seconds, _ in known), strict=True))
    a_second = np.array([rows for _, rows in known]) / (end - first)
    points = np.unique(np.concatenate([first, end]))
    until = [float((np.clip(point - first, 0, end - first) * a_second).sum()) for point in points.tolist()]
    cuts = np.interp(np.linspace(0, until[-1], count + 1), until, points)
    yield from pairwise(np.unique(np.ceil(cuts).astype(np.int64)).tolist())


def _overlap(one: Seconds | None, other: Seconds) -> bool:
    return one is not None and one[0] < other[1] and other[0] < one[1]


class LegTables:
    """Tables `latency` and `histogram` of pieces, computed where this is called."""

    def __init__(self, location: str, most_rows: int) -> None:
        self._location, self._most_rows = location, most_rows

    def __call__(self, tasks: Iterable[list[tuple[int, LegPiece]]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        run = RunDir(self._location)
        for piece in (piece for task in tasks for _, piece in task):
            buckets = self._buckets_of(run, piece)
            yield latency(buckets), histogram(buckets)

    def _buckets_of(self, run: RunDir, piece: LegPiece) -> pa.Table:
        """What many slices have of one scope is added up on the way."""
        kept = BUCKETS.empty_table()
        parts, rows = [kept], 0
        for file in piece.files:
            with run.open_input(file) as stream:
                found = pq.read_table(stream, filters=piece.wanted(), use_threads=False).cast(BUCKETS)
            parts.append(found)
            rows += found.num_rows
            if rows > max(self._most_rows, kept.num_rows):
                kept = added_up(pa.concat_tables(parts))
                parts, rows = [kept], 0
        return pa.concat_tables(parts)


def added_up(buckets: pa.Table) -> pa.Table:
    """Of each value of a scope one row, and those that bear a scope's exact sums as they are: sums that are
    null may be missing, or too large to be written."""
    bears_sums = pc.is_valid(buckets["sum_ns"])
    others = buckets.filter(pc.invert(bears_sums))
    how = [("count", "sum"), ("min_ns", "min"), ("max_ns", "max")]
    found = others.group_by([*SCOPE_OF_LEG, "value_ns"], use_threads=False).aggregate(how)
    names = {f"{name}_{function}": name for name, function in how}
    found = found.rename_columns([names.get(name, name) for name in found.column_names])
    for name in ("sum_ns", "squares_ns2"):
        found = found.append_column(BUCKETS.field(name), pa.nulls(found.num_rows, BUCKETS.field(name).type))
    return pa.concat_tables([buckets.filter(bears_sums), found.select(BUCKETS.names).cast(BUCKETS)])
