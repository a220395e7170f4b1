"""Reading messages in batches: whose they are, and whether they are whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge.payload.checksum import Words, body_sums, header_sums, length_sums, mixed, weights
from streamgauge.payload.few import Found, identify
from streamgauge.payload.header import CHECKSUM_WORD, HEADER_BYTES, HEADER_WORDS
from streamgauge.tables.events import CORRUPT, INTACT, UNEXPECTED

Carrier = Literal["value", "key", "headers"]

_NO_HEADER = b"\0" * HEADER_BYTES


@dataclass(slots=True)
class Packed:
    """Values end to end, and the size of each: many messages in one piece of memory."""

    joined: bytes
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)

    def split(self) -> list[bytes]:
        ends = np.cumsum(self.sizes).tolist()
        return [self.joined[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@dataclass(slots=True)
class Identities:
    """Columns, a row a record; the header's fields mean something only where state is INTACT."""

    state: NDArray[np.int8]
    producer: NDArray[np.int32]
    sequence: NDArray[np.int64]
    intended_ns: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    read_ns: NDArray[np.int64] | None = None
    """When each had been read, where reading is a part of what is measured."""


class MessageReader:
    """Knows the messages of one case."""

    def __init__(self, carrier: Carrier, tag: int) -> None:
        self._carrier = carrier
        self._tag, self._own_tag = np.uint64(tag), tag
        self._padded = np.zeros((0, 0), np.uint8)

    def read(self, values: list[bytes] | Packed, carried: list[bytes | None] | None) -> Identities:
        """Identify a batch; `carried` are the keys or record headers, where these carry the header."""
        if isinstance(values, Packed):
            joined, size, count = values.joined, int(values.sizes[0]), len(values)
        else:
            joined, size, count = b"".join(values), len(values[0]), len(values)
        if self._carrier == "value" and size >= HEADER_BYTES and len(joined) == size * count:
            headers, sums = self._read_equal(joined, size, count)
            identities = self._identities(headers, sums, np.full(count, size))
            # All intact: then all were of that one size, as it seemed.
            if not identities.state.any():
                return identities
        if isinstance(values, Packed):
            values = values.split()
        headers, sums = self._read_mixed(values, carried)
        return self._identities(headers, sums, np.fromiter(map(len, values), np.int64, count))

    def read_few(self, values: Sequence[bytes], carried: list[bytes | None] | None) -> list[Found]:
        """The same, of a few records: one by one."""
        if self._carrier == "value":
            return [Found(*identify(value, self._own_tag)) for value in values]
        assert carried is not None
        whole = [head if head and len(head) == HEADER_BYTES else _NO_HEADER for head in carried]
        return [
            Found(*identify(head + value, self._own_tag)) for head, value in zip(whole, values, strict=True)
        ]

    def _identities(self, headers: Words, sums: Words, sizes: NDArray[np.int64]) -> Identities:
        owners = headers[:, 0]
        intact = sums == headers[:, CHECKSUM_WORD]
        ours = (owners & np.uint64(0xFFFFFFFF)) == self._tag
        return Identities(
            state=np.where(ours, np.where(intact, INTACT, CORRUPT), UNEXPECTED).astype(np.int8),
            producer=(owners >> np.uint64(32)).astype(np.int32),
            sequence=headers[:, 1].view(np.int64),
            intended_ns=headers[:, 2].view(np.int64),
            size_bytes=sizes,
        )

    def _read_equal(self, joined: bytes, size: int, count: int) -> tuple[Words, Words]:
        """Values of one size that carry their header: one matrix, one product."""
        words = -(-size // 8)
        raw = np.frombuffer(joined, np.uint8).reshape(count, size)
        if size % 8 == 0:
            rows = raw.view("<u8")
        else:
            if self._padded.shape[0] < count or self._padded.shape[1] != words * 8:
                self._padded = np.zeros((max(count, 1024), words * 8), np.uint8)
            self._padded[:count, :size] = raw
            rows = self._padded[:count].view("<u8")
        length = length_sums(np.array([size - HEADER_BYTES]))
        # `@` has no fast path for integers.
        sums = np.einsum("ij,j->i", mixed(rows), weights(words)) + length
        return rows[:, :HEADER_WORDS], sums

    def _read_mixed(self, values: list[bytes], carried: list[bytes | None] | None) -> tuple[Words, Words]:
        """Values of any sizes, or headers carried elsewhere."""
        if self._carrier == "value":
            heads = [value[:HEADER_BYTES] for value in values]
            bodies = [value[HEADER_BYTES:] for value in values]
        else:
            assert carried is not None
            heads, bodies = [head or b"" for head in carried], values
        whole = [head if len(head) == HEADER_BYTES else _NO_HEADER for head in heads]
        headers = np.frombuffer(b"".join(whole), "<u8").reshape(len(values), HEADER_WORDS)
        return headers, header_sums(headers) + body_sums(bodies)
