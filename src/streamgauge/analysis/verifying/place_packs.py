"""What is said of a log's places, put in the order of their offsets once, to be looked at by stretches.

Of many producers or partitions a row group has a few rows of nearly every stretch, and would be read again
for each. So they are read once, some at a time, and left as files of our own, with a row group for each
stretch: a row is read twice and written once, whatever the number of producers. Only the launcher looks at
them, so they are on its disk, wherever the run is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.core.errors import BadInput

_LAYOUT = {
    "compression": "lz4",
    "use_dictionary": ["topic", "partition"],
    # In the order of offsets these are small steps.
    "column_encoding": {"offset": "DELTA_BINARY_PACKED", "key": "DELTA_BINARY_PACKED"},
    "store_schema": False,
}


@dataclass(frozen=True)
class Rows:
    """Which message is said to be where."""

    topic: Integers
    partition: Integers
    offset: Integers
    key: Integers

    @classmethod
    def joined(cls, parts: Iterable[Rows]) -> Rows:
        parts, nothing = list(parts), np.zeros(0, np.int64)
        return cls(*(np.concatenate([nothing, *(getattr(one, name) for one in parts)]) for name in _NAMES))

    @classmethod
    def within(cls, parts: Iterable[Rows], low: int, high: int) -> Rows:
        return cls.joined(part.picked((part.offset >= low) & (part.offset < high)) for part in parts)

    def picked(self, among: Bools) -> Rows:
        if among.all():
            return self
        return Rows(self.topic[among], self.partition[among], self.offset[among], self.key[among])


_NAMES = [field.name for field in fields(Rows)]


class PlacePacks:
    def __init__(self, folder: Path, stretches: Sequence[tuple[int, int]], most_rows: int) -> None:
        """`stretches`: from offset to offset, one after another; `most_rows`: in memory at a time."""
        self._folder, self._most_rows, self._count = folder, most_rows, 0
        self._begins = np.array([low for low, _ in stretches[1:]], np.int64)
        self._found: dict[tuple[str, int], list[tuple[Path, int]]] = defaultdict(list)

    def add(self, table: str, parts: Iterable[Rows]) -> None:
        waiting, count = list[Rows](), 0
        for part in parts:
            waiting.append(part)
            count += len(part.key)
            if count >= self._most_rows:
                self._write(table, Rows.joined(waiting))
                waiting, count = [], 0
        if count:
            self._write(table, Rows.joined(waiting))

    def rows(self, table: str, stretch: int) -> Rows:
        """Those of the stretch of that number."""
        return Rows.joined(_read(file, number) for file, number in self._found[table, stretch])

    def _write(self, table: str, rows: Rows) -> None:
        # Stable: what one reader read of a place stays in its order.
        order = np.argsort(rows.offset, kind="stable")
        ordered = pa.table({name: getattr(rows, name)[order] for name in _NAMES})
        cuts = np.searchsorted(rows.offset[order], self._begins)
        file = self._folder / f"{table}-{self._count:05d}.parquet"
        self._count += 1
        try:
            with pq.ParquetWriter(file, ordered.schema, **_LAYOUT) as writer:
                number = 0
                ends = zip([0, *cuts.tolist()], [*cuts.tolist(), len(order)], strict=True)
                for stretch, (begin, end) in enumerate(ends):
                    if begin < end:
                        writer.write_table(ordered.slice(begin, end - begin), row_group_size=end - begin)
                        self._found[table, stretch].append((file, number))
                        number += 1
        except OSError as error:
            raise BadInput(f"{file}: the verification cannot put offsets in order there: {error}") from error


def _read(file: Path, number: int) -> Rows:
    found = pq.ParquetFile(file).read_row_group(number, use_threads=False)
    return Rows(*(found[name].to_numpy() for name in _NAMES))
