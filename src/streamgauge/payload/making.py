"""Making messages in batches: header, body, key and record headers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.payload.bodies import make_bodies
from streamgauge.payload.checksum import body_sums, header_sums
from streamgauge.payload.header import CHECKSUM_WORD, HEADER_BYTES, HEADER_WORDS, RECORD_HEADER
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
        return Outgoing(
            self.first_sequence,
            self.values[:count],
            self.keys[:count] if self.keys is not None else None,
            self.headers[:count] if self.headers is not None else None,
        )

    def rest(self, taken: int) -> Outgoing:
        """What is left when the first `taken` have been accepted."""
        return Outgoing(
            self.first_sequence + taken,
            self.values[taken:],
            self.keys[taken:] if self.keys is not None else None,
            self.headers[taken:] if self.headers is not None else None,
        )


class MessageMaker:
    """Makes the messages of one producer; everything that can be is made beforehand."""

    def __init__(self, message: Message, tag: int, producer: int) -> None:
        # Seeded by case and producer, so that a run can be made again.
        rng = np.random.default_rng((tag, producer))
        bodies = make_bodies(message, rng)
        self._carrier = message.carrier
        self._count = len(bodies)
        self._bodies = bodies
        self._body_sums = body_sums(bodies)
        self._keys = _Keys(message, rng)
        self._fixed_headers: RecordHeaders = [(k, v.encode()) for k, v in message.headers.items()]
        sizes = np.fromiter(map(len, bodies), np.int64, len(bodies))
        self._sizes = sizes + (HEADER_BYTES if self._carrier == "value" else 0)
        # One row a body. With bodies of one size the header's value is made in place, whole.
        in_place = self._carrier == "value" and bool((sizes == sizes[0]).all())
        width = HEADER_WORDS + (-(-int(sizes[0]) // 8) if in_place else 0)
        self._rows = np.zeros((len(bodies), width), "<u8")
        self._rows[:, 0] = tag | producer << 32
        self._whole: NDArray[np.void] | None = None
        if in_place:
            raw = self._rows.view(np.uint8)
            for row, body in enumerate(bodies):
                raw[row, HEADER_BYTES : HEADER_BYTES + len(body)] = np.frombuffer(body, np.uint8)
            size = int(self._sizes[0])
            self._whole = raw[:, :size].view(f"V{size}")[:, 0]
        self._header_bytes = self._rows.view(np.uint8)[:, :HEADER_BYTES].view(f"V{HEADER_BYTES}")[:, 0]

    @property
    def batch_limit(self) -> int:
        """The most messages that can be made at once."""
        return self._count

    def sizes(self, first_sequence: int, count: int) -> NDArray[np.int64]:
        """Lengths of the values of these messages."""
        return self._sizes[self._body_numbers(first_sequence, count)]

    def make(self, first_sequence: int, intended_ns: NDArray[np.int64]) -> Outgoing:
        count = len(intended_ns)
        if count > self._count:
            raise ValueError(f"{count} messages at once: at most {self._count}")
        # Rows are used from the top, so that a batch is one slice; mixed bodies follow the sequence.
        rows = self._rows[:count]
        numbers = slice(0, count) if self._whole is not None else self._body_numbers(first_sequence, count)
        rows[:, 1] = np.arange(first_sequence, first_sequence + count)
        rows[:, 2] = intended_ns
        rows[:, CHECKSUM_WORD] = header_sums(rows[:, :HEADER_WORDS]) + self._body_sums[numbers]
        if self._whole is not None:
            values, carried = self._whole[:count].tolist(), None
        else:
            carried = self._header_bytes[:count].tolist()
            bodies = [self._bodies[number] for number in numbers]  # type: ignore[union-attr]
            values = list(map(bytes.__add__, carried, bodies)) if self._carrier == "value" else bodies
        keys = carried if self._carrier == "key" else self._keys.next(first_sequence, count)
        return Outgoing(first_sequence, values, keys, self._record_headers(carried, count))

    def _body_numbers(self, first_sequence: int, count: int) -> NDArray[np.int64]:
        return np.arange(first_sequence, first_sequence + count) % self._count

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

    def next(self, first_sequence: int, count: int) -> list[bytes] | None:
        if self._kind == "none":
            return None
        if self._kind == "round_robin":
            numbers = np.arange(first_sequence, first_sequence + count) % len(self._keys)
        else:
            numbers = self._rng.integers(0, len(self._keys), count)
        return [self._keys[number] for number in numbers]
