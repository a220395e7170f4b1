"""Making messages in batches: header, body, key and record headers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.payload.checksum import header_sums
from streamgauge.payload.few import FEW, message
from streamgauge.payload.header import CHECKSUM_WORD, HEADER_BYTES, HEADER_WORDS, RECORD_HEADER
from streamgauge.payload.pool import pool_of
from streamgauge.spec.load import Message

RecordHeaders = list[tuple[str, bytes]]


@dataclass(slots=True)
class Outgoing:
    """A batch of messages with consecutive sequence numbers, ready to be sent."""

    first_sequence: int
    values: list[bytes]
    keys: list[bytes] | None
    headers: list[RecordHeaders] | None

    def __len__(self) -> int:
        return len(self.values)

    def head(self, count: int) -> Outgoing:
        """The first `count` of them."""
        return self.part(0, count)

    def rest(self, taken: int) -> Outgoing:
        """What is left when the first `taken` have been accepted."""
        return self.part(taken, len(self))

    def part(self, start: int, stop: int) -> Outgoing:
        """Those from one place to before another."""
        own = slice(start, stop)
        return Outgoing(
            self.first_sequence + start,
            self.values[own],
            self.keys[own] if self.keys is not None else None,
            self.headers[own] if self.headers is not None else None,
        )


@dataclass(frozen=True)
class Ingredients:
    """What the messages of one producer are made of, for whoever makes them beneath Python. The checksum is
    what the header's words and the body add up to; message k has body k modulo their number."""

    owner: int
    """The header's first word: tag and producer."""
    in_key: bool
    """The header is the key; else it stands before the body."""
    bodies: NDArray[np.uint8]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    sums: NDArray[np.uint64]
    keys: tuple[bytes, ...]
    """That messages may have; none: they have none."""
    key_numbers: Callable[[int, int], NDArray[np.int64]]
    """Which keys so many messages from a sequence on have. To be asked for in order, once each."""


class MessageMaker:
    """Makes the messages of one producer; everything that can be is made beforehand."""

    def __init__(self, message: Message, tag: int, producer: int) -> None:
        self._carrier = message.carrier
        self._pool = pool_of(message, tag)
        self._own_word = tag | producer << 32
        self._owner = np.uint64(self._own_word)
        # Seeded by case and producer, so that a run can be made again.
        self._keys = _Keys(message, np.random.default_rng((tag, producer)))
        self._fixed_headers: RecordHeaders = [(k, v.encode()) for k, v in message.headers.items()]

    @property
    def batch_limit(self) -> int:
        """The most messages that can be made at once."""
        return self._pool.batch_limit

    def sizes(self, first_sequence: int, count: int) -> NDArray[np.int64]:
        """Lengths of the values of these messages."""
        at = first_sequence % self._pool.count
        return self._pool.value_sizes[at : at + count]

    def make(self, first_sequence: int, intended_ns: NDArray[np.int64]) -> Outgoing:
        count, pool = len(intended_ns), self._pool
        if count > pool.batch_limit:
            raise ValueError(f"{count} messages at once: at most {pool.batch_limit}")
        if count <= FEW:
            return self._make_few(first_sequence, intended_ns.tolist())
        # A message's body follows from its sequence, whatever batch it is in.
        at = first_sequence % pool.count
        own = slice(at, at + count)
        with pool.lock:
            rows = pool.rows[own]
            rows[:, 0] = self._owner
            rows[:, 1] = np.arange(first_sequence, first_sequence + count)
            rows[:, 2] = intended_ns
            rows[:, CHECKSUM_WORD] = header_sums(rows[:, :HEADER_WORDS]) + pool.sums[own]
            if pool.whole is not None:
                values, carried = pool.whole[own].tolist(), None
            else:
                carried, bodies = pool.headers[own].tolist(), pool.bodies[own]
                values = list(map(bytes.__add__, carried, bodies)) if self._carrier == "value" else bodies
        keys = carried if self._carrier == "key" else self._keys.next(first_sequence, count)
        return Outgoing(first_sequence, values, keys, self._record_headers(carried, count))

    def _make_few(self, first_sequence: int, intended_ns: list[int]) -> Outgoing:
        """The same, one by one."""
        count, pool, owner = len(intended_ns), self._pool, self._own_word
        bodies = [pool.body_and_sum((first_sequence + row) % pool.count) for row in range(count)]
        values = [
            message(owner, first_sequence + row, due_ns, *bodies[row])
            for row, due_ns in enumerate(intended_ns)
        ]
        if self._carrier == "value":
            keys = self._keys.next(first_sequence, count)
            return Outgoing(first_sequence, values, keys, self._record_headers(None, count))
        heads = [value[:HEADER_BYTES] for value in values]
        keys = heads if self._carrier == "key" else self._keys.next(first_sequence, count)
        return Outgoing(
            first_sequence, [body for body, _ in bodies], keys, self._record_headers(heads, count)
        )

    def ingredients(self) -> Ingredients | None:
        """None: messages have record headers, which are made here only."""
        if self._carrier == "headers" or self._fixed_headers:
            return None
        bodies, starts, sizes = self._pool.packed()
        in_key = self._carrier == "key"
        return Ingredients(
            int(self._owner),
            in_key,
            bodies,
            starts,
            sizes,
            self._pool.sums[: self._pool.count],
            () if in_key else self._keys.all,
            self._keys.numbers,
        )

    def _record_headers(self, carried: list[bytes] | None, count: int) -> list[RecordHeaders] | None:
        if self._carrier == "headers" and carried is not None:
            return [[*self._fixed_headers, (RECORD_HEADER, header)] for header in carried]
        return [self._fixed_headers] * count if self._fixed_headers else None


class _Keys:
    """The keys asked for: none, in turn, or at random of N."""

    def __init__(self, message: Message, rng: np.random.Generator) -> None:
        self._kind = message.keys.kind
        self._keys = [f"key-{number}".encode() for number in range(message.keys.of)]
        self._rng = rng

    @property
    def all(self) -> tuple[bytes, ...]:
        return () if self._kind == "none" else tuple(self._keys)

    def numbers(self, first_sequence: int, count: int) -> NDArray[np.int64]:
        if self._kind == "round_robin":
            return np.arange(first_sequence, first_sequence + count) % len(self._keys)
        return self._rng.integers(0, len(self._keys), count)

    def next(self, first_sequence: int, count: int) -> list[bytes] | None:
        if self._kind == "none":
            return None
        return [self._keys[number] for number in self.numbers(first_sequence, count)]
