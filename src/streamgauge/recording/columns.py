"""Preallocated columns for sends and receives.

Rows are filled in place by slices. A chunk is sealed when it is full, or when it has been open for
some seconds, and is then written; memory stays bounded however long the run is.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.recording.background import BackgroundWriter
from streamgauge.tables.column import Table
from streamgauge.tables.events import RECEIVES, SENDS

CHUNK_ROWS = 131_072
SEAL_AFTER_NS = 5_000_000_000
_MOST_READY_CHUNKS = 24
"""Made before the clock starts: memory that is touched for the first time costs as much as filling it."""

_LEAST_ROWS = 256

_NUMPY = {"int8": np.int8, "int32": np.int32, "int64": np.int64}


class Told(Protocol):
    """What became of messages, as a driver tells it."""

    sequences: NDArray[np.int64]
    partitions: NDArray[np.int32] | int
    offsets: NDArray[np.int64]
    errors: dict[int, str]


class PartWriter(Protocol):
    """Takes one part of a table after another."""

    def write(self, table: Table, columns: Mapping[str, Any]) -> None: ...


class _Chunk:
    """Rows `first` to `first + used` of one table."""

    def __init__(self, table: Table, rows: int) -> None:
        self._rows = rows
        self.columns: dict[str, NDArray[Any]] = {
            column.name: np.zeros(rows, _NUMPY[column.kind])
            for column in table.columns
            if column.kind in _NUMPY
        }
        for values in self.columns.values():
            values.fill(0)  # touch the pages now, not in the hot loop
        self.bytes = sum(values.nbytes for values in self.columns.values())
        self.errors: dict[int, str] = {}
        self.begin(0)

    def begin(self, first: int) -> None:
        self.first, self.used, self.told, self.opened_ns = first, 0, 0, 0
        self.sealed = False
        self.errors.clear()

    @property
    def room(self) -> int:
        return self._rows - self.used

    def is_over(self, now_ns: int) -> bool:
        """Full, or open for so long that it is to be written."""
        used = self.used
        return used == self._rows or (used > 0 and now_ns - self.opened_ns > SEAL_AFTER_NS)

    def free(self) -> dict[str, NDArray[Any]]:
        return {name: values[self.used :] for name, values in self.columns.items()}

    def fill(self, count: int, now_ns: int) -> None:
        """The next `count` rows are there."""
        if not self.used:
            self.opened_ns = now_ns
        self.used += count


class _ChunkedTable:
    """Chunks in use, spare ones, and the way to the file."""

    def __init__(self, table: Table, files: PartWriter, writer: BackgroundWriter, expected_rows: int) -> None:
        self._table, self._files, self._writer = table, files, writer
        # Hundreds of streams may share a process: a short one must not take the room of a long one.
        self._chunk_rows = min(CHUNK_ROWS, max(_LEAST_ROWS, expected_rows))
        ready = min(-(-expected_rows // self._chunk_rows) + 1, _MOST_READY_CHUNKS)
        self._spare = [_Chunk(table, self._chunk_rows) for _ in range(ready)]
        self._lock = threading.Lock()

    def _new_chunk(self, first: int) -> _Chunk:
        with self._lock:
            chunk = self._spare.pop() if self._spare else None
        chunk = chunk or _Chunk(self._table, self._chunk_rows)
        chunk.begin(first)
        return chunk

    def _hand_over(self, chunk: _Chunk) -> None:
        self._writer.put(chunk.bytes, lambda: self._write(chunk), soon=chunk.room > 0)

    def _write(self, chunk: _Chunk) -> None:
        self._files.write(self._table, self._finished(chunk))
        with self._lock:
            self._spare.append(chunk)

    def _finished(self, chunk: _Chunk) -> dict[str, Any]:
        return {name: values[: chunk.used] for name, values in chunk.columns.items()}


class SendColumns(_ChunkedTable):
    """One row a message sent; its ack fills in the rest of the row, in any order.

    One thread adds rows; acks may come from a second one. `handing_over` is held from before messages
    are handed to the library until their rows are there, since an ack can be faster than that.
    """

    def __init__(
        self,
        producer: int,
        files: PartWriter,
        writer: BackgroundWriter,
        expected_rows: int = CHUNK_ROWS,
        *,
        place: tuple[int, int] | None = None,
        completions: bool = True,
    ) -> None:
        """`place`: where everything is sent to. `completions`: acks will come."""
        super().__init__(SENDS, files, writer, expected_rows)
        self._producer, self._completions = producer, completions
        self._partition = None if place is None else place[1]
        self._open: list[_Chunk] = [self._new_chunk(0)]
        self._ends: NDArray[np.int64] | None = None
        self.handing_over = threading.RLock()
        self.sent = self.acked = self.failed = 0

    def follow_ends(self, topics: int, partitions: int) -> None:
        """From now on, keep in mind how far acks say that each partition goes."""
        self._ends = np.zeros((topics, partitions), np.int64)

    def acked_ends(self) -> dict[tuple[int, int], int]:
        """By (topic, partition): the offset after the last acknowledged one, where it is known."""
        if self._ends is None:
            return {}
        return {(int(t), int(p)): int(self._ends[t, p]) for t, p in np.argwhere(self._ends > 0)}

    def add(self, count: int, topic: int, sizes: NDArray[np.int64], intended_ns: Any, sent_ns: Any) -> None:
        """The next `count` messages were handed over, all at once or each at its own time."""
        if isinstance(sent_ns, list):
            self._add_few(count, topic, sizes, intended_ns, sent_ns)
            return
        done, now_ns = 0, int(sent_ns if np.ndim(sent_ns) == 0 else sent_ns[0])
        while done < count:
            chunk = self._chunk_for(now_ns)
            n = min(count - done, chunk.room)
            rows, columns = slice(chunk.used, chunk.used + n), chunk.columns
            columns["topic"][rows] = topic
            columns["size_bytes"][rows] = sizes[done : done + n]
            columns["intended_ns"][rows] = intended_ns[done : done + n]
            columns["sent_ns"][rows] = sent_ns if np.ndim(sent_ns) == 0 else sent_ns[done : done + n]
            columns["acked_ns"][rows] = 0
            chunk.fill(n, now_ns)
            done += n
        self.sent += count

    def _add_few(self, count: int, topic: int, sizes: Any, intended_ns: Any, sent_ns: list[int]) -> None:
        """Row by row: below a few, slices cost more."""
        for place in range(count):
            chunk = self._chunk_for(sent_ns[place])
            row, columns = chunk.used, chunk.columns
            columns["topic"][row] = topic
            columns["size_bytes"][row] = sizes[place]
            columns["intended_ns"][row] = intended_ns[place]
            columns["sent_ns"][row] = sent_ns[place]
            columns["acked_ns"][row] = 0
            chunk.fill(1, sent_ns[place])
        self.sent += count

    def free_rows(self, now_ns: int) -> dict[str, NDArray[Any]]:
        """The rows of the next messages, by column, for whoever writes them; `filled` says how many."""
        return self._chunk_for(now_ns).free()

    def filled(self, count: int, now_ns: int) -> None:
        self._open[-1].fill(count, now_ns)
        self.sent += count

    def _chunk_for(self, now_ns: int) -> _Chunk:
        chunk = self._open[-1]
        return self._next_chunk(chunk) if chunk.is_over(now_ns) else chunk

    def add_acks(self, acks: Told, acked_ns: Any) -> None:
        """Acks were seen at `acked_ns`, all at once or each at its own time."""
        sequences = acks.sequences
        if len(sequences) == 1 and not acks.errors:
            self._add_ack(acks, acked_ns)
            return
        with self.handing_over:
            self.failed += len(acks.errors)
            self.acked += len(sequences) - len(acks.errors)
            newest = self._open[-1]
            if int(sequences.min()) >= newest.first:
                self._fill(newest, sequences, acks.partitions, acks.offsets, acked_ns)
            else:
                self._fill_several(acks, acked_ns)
            for sequence, error in acks.errors.items():
                self._chunk_of(sequence).errors[sequence] = error
            self._hand_over_complete()

    def _add_ack(self, acks: Told, acked_ns: Any) -> None:
        """The same for one that came alone, which most do at low rates."""
        sequence, offset, partition = acks.sequences.item(), acks.offsets.item(), acks.partitions
        if not isinstance(partition, int):
            partition = partition.item()
        with self.handing_over:
            self.acked += 1
            newest = self._open[-1]
            chunk = newest if sequence >= newest.first else self._chunk_of(sequence)
            row, columns = sequence - chunk.first, chunk.columns
            columns["acked_ns"][row] = acked_ns if isinstance(acked_ns, int) else acked_ns.item()
            columns["partition"][row] = partition
            columns["offset"][row] = offset
            chunk.told += 1
            if self._ends is not None and offset >= 0:
                topic = columns["topic"].item(row)
                self._ends[topic, partition] = max(self._ends.item(topic, partition), offset + 1)
            if len(self._open) > 1:
                self._hand_over_complete()

    def close(self) -> None:
        """Hand over what is left; messages without an ack stay without one."""
        with self.handing_over:
            for chunk in self._open:
                self._hand_over(chunk)
            self._open = [self._new_chunk(self.sent)]

    def _next_chunk(self, full: _Chunk) -> _Chunk:
        chunk = self._new_chunk(full.first + full.used)
        with self.handing_over:
            full.sealed = True
            self._open.append(chunk)
            self._hand_over_complete()
        return chunk

    def _hand_over_complete(self) -> None:
        # Without completions only failures are told, and these at once: one chunk back at the most.
        for chunk in self._open[: -1 if self._completions else -2]:
            if chunk.sealed and (chunk.told == chunk.used or not self._completions):
                self._open.remove(chunk)
                self._hand_over(chunk)

    def _chunk_of(self, sequence: int) -> _Chunk:
        return next(chunk for chunk in reversed(self._open) if chunk.first <= sequence)

    def _fill_several(self, acks: Told, acked_ns: Any) -> None:
        starts = np.array([chunk.first for chunk in self._open])
        owner = np.searchsorted(starts, acks.sequences, side="right") - 1
        for number in np.unique(owner):
            mine = owner == number
            where = acks.partitions if isinstance(acks.partitions, int) else acks.partitions[mine]
            at_ns = acked_ns if np.ndim(acked_ns) == 0 else acked_ns[mine]
            self._fill(self._open[int(number)], acks.sequences[mine], where, acks.offsets[mine], at_ns)

    def _fill(self, chunk: _Chunk, sequences: Any, partitions: Any, offsets: Any, acked_ns: Any) -> None:
        rows = _as_slice(sequences - chunk.first)
        chunk.columns["acked_ns"][rows] = acked_ns
        chunk.columns["partition"][rows] = partitions
        chunk.columns["offset"][rows] = offsets
        chunk.told += len(sequences)
        if self._ends is not None:
            self._follow(chunk.columns["topic"][rows], partitions, np.asarray(offsets))

    def _follow(self, topics: Any, partitions: Any, offsets: Any) -> None:
        assert self._ends is not None
        if self._ends.size == 1:
            self._ends[0, 0] = max(self._ends[0, 0], int(offsets.max()) + 1)
            return
        known = offsets >= 0
        where = np.broadcast_to(partitions, known.shape)[known]
        np.maximum.at(self._ends, (topics[known], where), offsets[known] + 1)

    def _finished(self, chunk: _Chunk) -> dict[str, Any]:
        columns = super()._finished(chunk)
        unknown = columns["acked_ns"] == 0
        errors = np.full(chunk.used, None, object) if chunk.errors else None
        for sequence, error in chunk.errors.items():
            assert errors is not None
            errors[sequence - chunk.first] = error
        partitions = _known(columns["partition"], unknown | (columns["partition"] < 0))
        if self._partition is not None:
            partitions = np.full(chunk.used, self._partition, np.int32)
        return {
            **columns,
            "producer": np.full(chunk.used, self._producer, np.int32),
            "sequence": np.arange(chunk.first, chunk.first + chunk.used),
            "partition": partitions,
            "offset": _known(columns["offset"], unknown | (columns["offset"] < 0)),
            "acked_ns": _known(columns["acked_ns"], unknown),
            "error": errors,
        }


class ReceiveColumns(_ChunkedTable):
    """One row a record received, in the order of arrival."""

    def __init__(
        self, consumer: int, files: PartWriter, writer: BackgroundWriter, expected_rows: int = CHUNK_ROWS
    ) -> None:
        super().__init__(RECEIVES, files, writer, expected_rows)
        self._consumer = consumer
        self._chunk = self._new_chunk(0)
        self.received = 0

    def add(self, count: int, columns: dict[str, Any], received_ns: Any) -> None:
        """`columns` and `received_ns`: arrays of `count` values, or one value for all."""
        if not count:
            return
        done, now_ns = 0, int(received_ns if np.ndim(received_ns) == 0 else received_ns[0])
        columns = {**columns, "received_ns": received_ns}
        while done < count:
            chunk = self._chunk_for(now_ns)
            n = min(count - done, chunk.room)
            rows = slice(chunk.used, chunk.used + n)
            for name, values in columns.items():
                chunk.columns[name][rows] = values if np.ndim(values) == 0 else values[done : done + n]
            chunk.fill(n, now_ns)
            done += n
            self.received += n

    def add_row(
        self,
        received_ns: int,
        state: int,
        producer: int,
        sequence: int,
        topic: int,
        partition: int,
        offset: int,
        size_bytes: int,
        broker_ms: int,
        broker_time: int,
    ) -> None:
        """One record that came alone."""
        chunk = self._chunk_for(received_ns)
        at, columns = chunk.used, chunk.columns
        columns["received_ns"][at] = received_ns
        columns["state"][at] = state
        columns["producer"][at] = producer
        columns["sequence"][at] = sequence
        columns["topic"][at] = topic
        columns["partition"][at] = partition
        columns["offset"][at] = offset
        columns["size_bytes"][at] = size_bytes
        columns["broker_ms"][at] = broker_ms
        columns["broker_time"][at] = broker_time
        chunk.fill(1, received_ns)
        self.received += 1

    def free_rows(self, now_ns: int) -> dict[str, NDArray[Any]]:
        """The rows of the next records, by column, for whoever writes them itself; `filled` says how many."""
        return self._chunk_for(now_ns).free()

    def filled(self, count: int, now_ns: int) -> None:
        self._chunk.fill(count, now_ns)
        self.received += count

    def _chunk_for(self, now_ns: int) -> _Chunk:
        if self._chunk.is_over(now_ns):
            self._hand_over(self._chunk)
            self._chunk = self._new_chunk(self.received)
        return self._chunk

    def close(self) -> None:
        self._hand_over(self._chunk)
        self._chunk = self._new_chunk(self.received)

    def _finished(self, chunk: _Chunk) -> dict[str, Any]:
        columns = super()._finished(chunk)
        return {
            **columns,
            "consumer": np.full(chunk.used, self._consumer, np.int32),
            "arrival": np.arange(chunk.first, chunk.first + chunk.used),
            "broker_ms": _known(columns["broker_ms"], columns["broker_time"] == 0),
        }


def _known(values: NDArray[Any], unknown: NDArray[np.bool_]) -> Any:
    """Nulls where unknown; where all are known it is the column itself, which nobody has to copy."""
    return np.ma.array(values, mask=unknown) if unknown.any() else values


def _as_slice(rows: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """The same rows, where one follows the other: filling a slice takes a fraction of the time."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
        return slice(first, last + 1)
    return rows
