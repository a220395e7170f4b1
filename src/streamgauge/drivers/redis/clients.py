"""Producer and consumer of Redis Streams: batches as bytes on a wire, ids as numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import hiredis
import numpy as np
from numpy.typing import NDArray

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import (
    UNKNOWN,
    Acks,
    Consumer,
    ConsumerOptions,
    Producer,
    ProducerOptions,
    Received,
    all_read,
)
from streamgauge.drivers.fates import MOST_BYTES, MOST_MESSAGES
from streamgauge.drivers.redis.wire import Wire, packed
from streamgauge.drivers.server_address import ServerAddress
from streamgauge.payload.making import Outgoing
from streamgauge.tables.events import BROKER_TIME_APPEND

_COUNT_BITS = 20
"""Of an offset: entries within one millisecond. The other 43 last until the year 2248."""
_COUNT_MASK = (1 << _COUNT_BITS) - 1
_MOST_AT_ONCE = 1000
_BATCH_BYTES = 8 * 1024**2
"""About as much as one XREAD is asked for: Redis itself limits an answer by its entries only."""
_FIELD = b"v"


def stream_key(topic: str, partition: int) -> str:
    return f"{topic}:{partition}"


def end_of(last_id: bytes) -> int:
    """The offset behind an entry; 0 behind none."""
    offset = int(offsets_of([last_id])[0])
    return offset + 1 if offset else 0


def offsets_of(ids: list[bytes]) -> NDArray[np.int64]:
    """Entry ids as numbers, all at once."""
    pairs = np.fromstring(b" ".join(ids).replace(b"-", b" "), np.int64, sep=" ").reshape(-1, 2)
    offsets: NDArray[np.int64] = (pairs[:, 0] << _COUNT_BITS) + pairs[:, 1]
    return offsets


def _id_before(offset: int) -> str:
    """What XREAD has to be given to begin at an offset: it answers with what is behind an id."""
    last = max(0, offset - 1)
    return f"{last >> _COUNT_BITS}-{last & _COUNT_MASK}"


class RedisProducer(Producer):
    """Answers come in the order of the commands, so no id has to be matched."""

    def __init__(self, address: ServerAddress, options: ProducerOptions, partitions: int) -> None:
        self._address, self._options, self._partitions = address, options, partitions
        self._wire = Wire(address, f"producer {options.number}")
        self._batches: deque[tuple[int, int, int]] = deque()
        """First sequence, count and partition of what is still to be answered."""
        self._turn = 0
        # Two counts, each for one thread: adding to one from both would lose some.
        self._taken = self._told = 0
        self._largest = 1

    def send(self, batch: Outgoing, topic: int) -> int:
        if not self._wire.flush():
            return 0
        count = min(len(batch), self._room(len(batch.values[0])))
        if count <= 0:
            return 0
        partition = self._turn % self._partitions
        start = _xadd_start(stream_key(self._options.topics[topic], partition).encode())
        commands = [b"%b%d\r\n%b\r\n" % (start, len(value), value) for value in batch.values[:count]]
        self._batches.append((batch.first_sequence, count, partition))
        self._taken += count
        self._turn += count == len(batch)
        self._wire.write(b"".join(commands))
        return count

    def _room(self, value_bytes: int) -> int:
        self._largest = max(self._largest, value_bytes)
        return min(MOST_MESSAGES, max(1, MOST_BYTES // self._largest)) - self.outstanding()

    def poll(self, timeout_s: float) -> Acks | None:
        answers = self._wire.read(timeout_s)
        if not answers:
            return None
        sequences, partitions = self._whose(len(answers))
        errors = {
            int(sequences[row]): str(answer)
            for row, answer in enumerate(answers)
            if isinstance(answer, hiredis.ReplyError)
        }
        if errors:
            answers = [b"0-0" if isinstance(answer, hiredis.ReplyError) else answer for answer in answers]
        offsets = offsets_of(answers)
        for row in np.flatnonzero(np.isin(sequences, list(errors))) if errors else ():
            offsets[row], partitions[row] = UNKNOWN, UNKNOWN
        self._told += len(answers)
        return Acks(sequences, partitions, offsets, errors)

    def _whose(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Sequences and partitions of the next `count` messages to be answered."""
        sequences, partitions = np.empty(count, np.int64), np.empty(count, np.int32)
        at = 0
        while at < count:
            first, waiting, partition = self._batches.popleft()
            taken = min(waiting, count - at)
            sequences[at : at + taken] = np.arange(first, first + taken)
            partitions[at : at + taken] = partition
            if taken < waiting:
                self._batches.appendleft((first + taken, waiting - taken, partition))
            at += taken
        return sequences, partitions

    def outstanding(self) -> int:
        return self._taken - self._told

    def settings_in_force(self) -> dict[str, Any]:
        return {"url": str(self._address), "command": "XADD key * v value", "most_outstanding": MOST_MESSAGES}

    def close(self) -> None:
        self._wire.close()


class RedisConsumer(Consumer):
    """There is always a question on its way, so that the server answers while the last answer is read."""

    def __init__(self, address: ServerAddress, options: ConsumerOptions) -> None:
        self._address, self._topics = address, options.topics
        self._who = f"consumer {options.number}"
        self._wire = Wire(address, self._who)
        self._ids: dict[bytes, str] = {}
        self._places: dict[bytes, tuple[int, int]] = {}
        self._positions: dict[tuple[int, int], int] = {}
        self._count = _MOST_AT_ONCE
        self._start(options.starts())

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        # A new connection: what was asked on the old one would be answered there.
        self._wire.close()
        self._wire = Wire(self._address, self._who)
        self._start(start)

    def _start(self, start: Mapping[tuple[int, int], int]) -> None:
        keys = {place: stream_key(self._topics[place[0]], place[1]).encode() for place in start}
        self._places = {key: place for place, key in keys.items()}
        self._ids = {keys[place]: _id_before(offset) for place, offset in start.items()}
        self._positions = dict(start)
        self._ask()

    def _ask(self) -> None:
        if self._ids:
            words = ["XREAD", "COUNT", str(self._count), "BLOCK", "0", "STREAMS"]
            self._wire.write(packed([*words, *self._ids, *self._ids.values()]))

    def wait_ready(self, deadline_s: float) -> None:
        """It begins at an offset: nothing that is written from now on can be missed."""

    def poll(self, timeout_s: float) -> Received | None:
        answers = self._wire.read(timeout_s)
        if not answers:
            return None
        answer = answers[0]
        if isinstance(answer, hiredis.ReplyError):
            raise CaseFailed(f"{self._who}: Redis at {self._address}: {answer}")
        # At once, and only then what came is looked at.
        for key, entries in answer:
            self._ids[key] = entries[-1][0].decode()
        self._ask()
        return self._received(answer)

    def _received(self, answer: list[Any]) -> Received:
        entries = [entry for _, found in answer for entry in found]
        values = [fields[1] for _, fields in entries]
        offsets = offsets_of([entry_id for entry_id, _ in entries])
        counts = [len(found) for _, found in answer]
        places = [self._places[key] for key, _ in answer]
        for place, last in zip(places, np.cumsum(counts) - 1, strict=True):
            self._positions[place] = int(offsets[last]) + 1
        # For the next question but one.
        self._count = max(1, min(_MOST_AT_ONCE, _BATCH_BYTES * len(values) // (sum(map(len, values)) or 1)))
        return Received(
            values=values,
            carried=None,
            topics=np.repeat(np.array([topic for topic, _ in places], np.int32), counts),
            partitions=np.repeat(np.array([partition for _, partition in places], np.int32), counts),
            offsets=offsets,
            timestamps_ms=offsets >> _COUNT_BITS,
            timestamp_kind=BROKER_TIME_APPEND,
        )

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return all_read(self._positions, ends)

    def settings_in_force(self) -> dict[str, Any]:
        return {"url": str(self._address), "command": f"XREAD COUNT {_MOST_AT_ONCE} BLOCK 0 STREAMS …"}

    def close(self) -> None:
        self._wire.close()


def _xadd_start(key: bytes) -> bytes:
    """XADD key * v, up to the value's length."""
    return b"*5\r\n$4\r\nXADD\r\n$%d\r\n%b\r\n$1\r\n*\r\n$%d\r\n%b\r\n$" % (
        len(key),
        key,
        len(_FIELD),
        _FIELD,
    )
