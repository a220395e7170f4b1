"""Chunks whose memory is a file: what an agent has recorded is there when it is killed in a case.

A write to such memory is a write to the system's page cache, which outlives the process; nothing waits for
a disk. Only agents of a case in which one is killed on purpose record this way: pages of a file cost more to
touch than a process's own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.errors import BadInput
from streamgauge.tables.column import Table

NUMPY = {"int8": np.int8, "int32": np.int32, "int64": np.int64}
_HEADER = 8
_NUMBER, _PARTITION, _ROWS, _FIRST, _IS_OPEN = range(5)
NO_PARTITION = -1


class KeptChunk:
    """A header, the columns, and which rows are known to have failed."""

    def __init__(self, memory: NDArray[np.uint8], table: Table) -> None:
        memory = memory.view(np.ndarray)  # plain arrays, of which slices are cheap
        self._header = memory[: _HEADER * 8].view(np.int64)
        self.columns: dict[str, NDArray[Any]] = {}
        at, rows = _HEADER * 8, int(self._header[_ROWS])
        # The widest first, so that each lies where its numbers may.
        for name, kind in sorted(_kinds(table).items(), key=lambda item: -np.dtype(item[1]).itemsize):
            size = rows * np.dtype(kind).itemsize
            self.columns[name] = memory[at : at + size].view(kind)
            at += size
        self.failed = memory[at : at + rows].view(np.int8)

    def begin(self, first: int) -> None:
        self._header[_IS_OPEN] = 0
        for values in (*self.columns.values(), self.failed):
            values.fill(0)
        self._header[_FIRST] = first
        self._header[_IS_OPEN] = 1

    def end(self) -> None:
        """Its rows are where nobody can lose them."""
        self._header[_IS_OPEN] = 0

    @property
    def is_open(self) -> bool:
        return bool(self._header[_IS_OPEN])

    @property
    def number(self) -> int:
        return int(self._header[_NUMBER])

    @property
    def partition(self) -> int | None:
        found = int(self._header[_PARTITION])
        return None if found == NO_PARTITION else found

    @property
    def first(self) -> int:
        return int(self._header[_FIRST])


class Keeping:
    """The chunks of one agent in one case."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._made = folder, 0

    def chunk(self, table: Table, rows: int, number: int, partition: int | None = None) -> KeptChunk:
        """`number`: of the producer or consumer whose rows they are."""
        self._made += 1
        path = self._folder / f"{table.name}-{self._made:05d}.chunk"
        size = _HEADER * 8 + rows * (1 + sum(np.dtype(kind).itemsize for kind in _kinds(table).values()))
        try:
            with path.open("xb") as file:
                # Reserved, for a disk that is full later would end the process without a word.
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            raise BadInput(f"{self._folder}: no room for what is recorded: {error.strerror}") from None
        memory = np.memmap(path, np.uint8, "r+")
        header = memory[: _HEADER * 8].view(np.int64)
        header[[_NUMBER, _PARTITION, _ROWS]] = number, NO_PARTITION if partition is None else partition, rows
        return KeptChunk(memory, table)


def kept_chunks(folder: Path, table: Table) -> list[KeptChunk]:
    """Those whose rows nobody has written yet, in the order of these."""
    files = (np.memmap(path, np.uint8, "r") for path in folder.glob(f"{table.name}-*.chunk"))
    chunks = [KeptChunk(memory, table) for memory in files if len(memory) > _HEADER * 8]
    return sorted((chunk for chunk in chunks if chunk.is_open), key=lambda chunk: (chunk.number, chunk.first))


def _kinds(table: Table) -> dict[str, Any]:
    return {column.name: NUMPY[column.kind] for column in table.columns if column.kind in NUMPY}
