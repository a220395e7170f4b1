"""Preallocated columns for sends and receives.

Rows are filled in place by slices. A chunk is sealed when it is full, or when it has been open for
some seconds, and is then written; memory stays bounded however long the run is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.recording.background import BackgroundWriter
from streamgauge.recording.finishing import finished_receives, finished_sends
from streamgauge.recording.journal import Journal, News
from streamgauge.recording.kept import NUMPY, Keeping, KeptChunk
from streamgauge.tables.column import Table
from streamgauge.tables.events import RECEIVES, SENDS

CHUNK_ROWS = 131_072
SEAL_AFTER_NS = 5_000_000_000
_MOST_READY_CHUNKS = 24
"""Made before the clock starts: memory that is touched for the first time costs as much as filling it."""

_LEAST_ROWS = 256
_LOOKED_AT_CHUNKS = 4
"""Half a second at a million messages per second."""


class Told(Protocol):
    """What became of messages, as a driver tells it."""

    sequences: NDArray[np.int64]
    partitions: NDArray[np.int32] | int
    offsets: NDArray[np.int64]
    errors: dict[int, str]


class PartWriter(Protocol):
    """Takes one part of a table after another."""

    def write(self, table: Table, columns: Mapping[str, Any], then: Callable[[], None]) -> None:
        """`then` is called once it is in a file."""


class _Chunk:
    """Rows `first` to `first + used` of one table."""

    def __init__(self, table: Table, rows: int, memory: KeptChunk | None = None) -> None:
        """`memory`: what to use, if it is to outlive this process."""
        self._rows, self._memory = rows, memory
        self.columns: dict[str, NDArray[Any]] = (
            {c.name: np.zeros(rows, NUMPY[c.kind]) for c in table.columns if c.kind in NUMPY}
            if memory is None
            else memory.columns
        )
        for values in self.columns.values():
            values.fill(0)  # touch the pages now, not in the hot loop
        self.bytes = sum(values.nbytes for values in self.columns.values())
        self.errors: dict[int, str] = {}
        self._set_back(0)

    def begin(self, first: int) -> None:
        if self._memory is not None:
            self._memory.begin(first)
        self._set_back(first)

    def _set_back(self, first: int) -> None:
        self.first, self.used, self.told, self.opened_ns = first, 0, 0, 0
        self.sealed = False
        self.errors.clear()
        # Of the journal: how many rows and acks it has, and which rows it has with theirs.
        self.kept, self.kept_told = 0, 0
        self.settled: NDArray[np.bool_] | None = None

    def forget(self, kept: int, rows: Mapping[str, Any]) -> None:
        """The journal has only `kept` rows, and none of these."""
        self.kept, self.kept_told = kept, -1
        if self.settled is not None:
            self.settled[rows["sequence"] - self.first] = False

    def fail(self, sequence: int, error: str) -> None:
        self.errors.setdefault(sequence, error)
        if self._memory is not None:
            self._memory.failed[sequence - self.first] = 1

    def written(self) -> None:
        if self._memory is not None:
            self._memory.end()

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

    def __init__(
        self,
        table: Table,
        number: int,
        files: PartWriter,
        writer: BackgroundWriter,
        expected_rows: int,
        keeping: Keeping | None,
        partition: int | None = None,
    ) -> None:
        """`number`: of the stream; `partition`: that all of it goes to, if to one."""
        self.number, self._keeping, self._partition = number, keeping, partition
        self._table, self._files, self._writer = table, files, writer
        # Hundreds of streams may share a process: a short one must not take the room of a long one.
        self._chunk_rows = min(CHUNK_ROWS, max(_LEAST_ROWS, expected_rows))
        ready = min(-(-expected_rows // self._chunk_rows) + 1, _MOST_READY_CHUNKS)
        self._spare = [self._made_chunk() for _ in range(ready)]
        self._lock = threading.Lock()
        self._in_use: list[_Chunk] = []
        self._journal: Journal | None = None

    def keep_in(self, journal: Journal) -> None:
        """From now on, tell it what is in a file."""
        self._journal = journal

    def news(self) -> Iterator[News]:
        """By chunk: rows in no event file that were not asked for before, or have an ack since then."""
        with self._lock:
            chunks = list(self._in_use)
        for chunk in chunks:
            kept = chunk.kept
            if (rows := self._new_rows(chunk)) is not None:
                key = (self._table.name, self.number, chunk.first)
                yield News(key, rows, partial(chunk.forget, kept, rows))

    def _new_rows(self, chunk: _Chunk) -> dict[str, Any] | None:
        raise NotImplementedError

    def _new_chunk(self, first: int) -> _Chunk:
        with self._lock:
            chunk = self._spare.pop() if self._spare else None
        chunk = chunk or self._made_chunk()
        chunk.begin(first)
        with self._lock:
            self._in_use.append(chunk)
        return chunk

    def _made_chunk(self) -> _Chunk:
        if self._keeping is None:
            return _Chunk(self._table, self._chunk_rows)
        memory = self._keeping.chunk(self._table, self._chunk_rows, self.number, self._partition)
        return _Chunk(self._table, self._chunk_rows, memory)

    def _hand_over(self, chunk: _Chunk) -> None:
        self._writer.put(chunk.bytes, lambda: self._write(chunk), soon=chunk.room > 0)

    def _write(self, chunk: _Chunk) -> None:
        key, journal = (self._table.name, self.number, chunk.first), self._journal
        self._files.write(
            self._table, self._finished(chunk), lambda: None if journal is None else journal.release(key)
        )
        chunk.written()
        with self._lock:
            self._in_use.remove(chunk)
            self._spare.append(chunk)

    def _finished(self, chunk: _Chunk) -> dict[str, Any]:
        raise NotImplementedError


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
        keeping: Keeping | None = None,
    ) -> None:
        """`place`: where everything is sent to. `completions`: acks will come. `keeping`: rows are to outlive
        this process."""
        partition = None if place is None else place[1]
        super().__init__(SENDS, producer, files, writer, expected_rows, keeping, partition)
        self._completions = completions
        self._open: list[_Chunk] = [self._new_chunk(0)]
        self._ends: NDArray[np.int64] | None = None
        self._undecided: int | None = None
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
            # The stamp comes last: whoever looks at a row that has it finds all the rest.
            for sequence, error in acks.errors.items():
                self._chunk_of(sequence).fail(sequence, error)
            newest = self._open[-1]
            if int(sequences.min()) >= newest.first:
                self._fill(newest, sequences, acks.partitions, acks.offsets, acked_ns)
            else:
                self._fill_several(acks, acked_ns)
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
            columns["partition"][row] = partition
            columns["offset"][row] = offset
            columns["acked_ns"][row] = acked_ns if isinstance(acked_ns, int) else acked_ns.item()
            chunk.told += 1
            if self._ends is not None and offset >= 0:
                topic = columns["topic"].item(row)
                self._ends[topic, partition] = max(self._ends.item(topic, partition), offset + 1)
            if len(self._open) > 1:
                self._hand_over_complete()

    def acked_since(self, after_ns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """When messages were due and acked, of those acked later than that; for another thread, which gets
        the newest chunks only."""
        with self._lock:
            chunks = self._in_use[-_LOOKED_AT_CHUNKS:]
        due, acked = [], []
        for chunk in chunks:
            stamps = chunk.columns["acked_ns"][: chunk.used].copy()
            rows = np.flatnonzero(stamps > after_ns)
            due.append(chunk.columns["intended_ns"][rows])
            acked.append(stamps[rows])
        return np.concatenate(due), np.concatenate(acked)

    def hold_from(self, sequence: int) -> None:
        """What becomes of messages from this one on is not decided yet, whatever acks say: their transaction
        is open."""
        with self.handing_over:
            self._undecided = sequence
            self._hand_over_complete()

    def fail_from(self, sequence: int, error: str) -> None:
        """All messages from this one on have failed, whatever acks said."""
        with self.handing_over:
            for chunk in self._open:
                for failed in range(max(sequence, chunk.first), chunk.first + chunk.used):
                    chunk.fail(failed, error)

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
            is_decided = self._undecided is None or chunk.first + chunk.used <= self._undecided
            if chunk.sealed and is_decided and (chunk.told == chunk.used or not self._completions):
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
        chunk.columns["partition"][rows] = partitions
        chunk.columns["offset"][rows] = offsets
        chunk.columns["acked_ns"][rows] = acked_ns
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
        rows = slice(0, chunk.used)
        return finished_sends(self._rows(chunk, rows, chunk.columns["acked_ns"][rows]))

    def _new_rows(self, chunk: _Chunk) -> dict[str, Any] | None:
        used, told = chunk.used, chunk.told
        if (used, told) == (chunk.kept, chunk.kept_told):
            return None
        # Stamps first, and a copy: acks go on coming meanwhile, and a row that has its stamp has the rest.
        acked_ns = chunk.columns["acked_ns"][:used].copy()
        is_acked = acked_ns != 0
        if chunk.settled is None:
            chunk.settled = np.zeros(len(chunk.columns["acked_ns"]), np.bool_)
        wanted = is_acked & ~chunk.settled[:used]
        wanted[chunk.kept :] = True
        chunk.settled[:used] = is_acked
        chunk.kept, chunk.kept_told = used, told
        numbers = np.flatnonzero(wanted)
        if not len(numbers):
            return None
        rows = _as_slice(numbers)
        return self._rows(chunk, rows, acked_ns[rows])

    def _rows(self, chunk: _Chunk, rows: Any, acked_ns: NDArray[np.int64]) -> dict[str, Any]:
        """As they lie in memory; what no ack has told yet is below 0."""
        columns = {name: values[rows] for name, values in chunk.columns.items()}
        unknown, count = acked_ns == 0, len(acked_ns)
        if unknown.any():
            columns |= {name: np.where(unknown, -1, columns[name]) for name in ("partition", "offset")}
        if self._partition is not None:
            columns["partition"] = np.full(count, self._partition, np.int32)
        sequence = chunk.first + (
            np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows.astype(np.int64)
        )
        columns |= {"producer": np.full(count, self.number, np.int32), "sequence": sequence}
        if chunk.errors:
            told = dict(chunk.errors)
            columns["error"] = np.array([told.get(each) for each in sequence.tolist()], object)
        return {**columns, "acked_ns": acked_ns}


class ReceiveColumns(_ChunkedTable):
    """One row a record received, in the order of arrival."""

    def __init__(
        self,
        consumer: int,
        files: PartWriter,
        writer: BackgroundWriter,
        expected_rows: int = CHUNK_ROWS,
        *,
        keeping: Keeping | None = None,
    ) -> None:
        super().__init__(RECEIVES, consumer, files, writer, expected_rows, keeping)
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
        return finished_receives(self._rows(chunk, 0, chunk.used))

    def _new_rows(self, chunk: _Chunk) -> dict[str, Any] | None:
        used, kept = chunk.used, chunk.kept
        chunk.kept = used
        return self._rows(chunk, kept, used) if used > kept else None

    def _rows(self, chunk: _Chunk, begin: int, end: int) -> dict[str, Any]:
        return {
            **{name: values[begin:end] for name, values in chunk.columns.items()},
            "consumer": np.full(end - begin, self.number, np.int32),
            "arrival": np.arange(chunk.first + begin, chunk.first + end),
        }


def _as_slice(rows: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """The same rows, where one follows the other: filling a slice takes a fraction of the time."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
        return slice(first, last + 1)
    return rows
