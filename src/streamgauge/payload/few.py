"""Messages one at a time: below a few of them, the arrays of a batch cost more than the messages themselves.

Whatever is done here gives the same bytes and the same answers as `making` and `reading` give for a batch.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from streamgauge.native.loading import compiled_loops
from streamgauge.payload.checksum import LENGTH_WEIGHT, MIX_BITS, body_sums, weights
from streamgauge.payload.header import HEADER_BYTES, HEADER_WORDS
from streamgauge.tables.events import CORRUPT, INTACT, UNEXPECTED

FEW = 4
"""So many are handled one by one; from five on an array is cheaper."""
HEADER_PACKED = struct.Struct("<QqqQ")
"""The header's words: owner, sequence, intended_ns, checksum."""

WORD_MASK = (1 << 64) - 1
"""Of sums modulo 2⁶⁴."""
_LENGTH_WEIGHT, _MIX_BITS = int(LENGTH_WEIGHT), int(MIX_BITS)
_OWNER_WEIGHT, _SEQUENCE_WEIGHT, _INTENDED_WEIGHT = (int(weight) for weight in weights(HEADER_WORDS)[:3])
_MOST_WORDS = 64
"""Of a body that is added up word by word; a longer one is cheaper as an array."""
_LOOPS: Any = compiled_loops()


class Found(NamedTuple):
    """What a message turned out to be; the header's fields mean something only where state is INTACT."""

    state: int
    producer: int
    sequence: int
    intended_ns: int
    read_ns: int | None = None
    """When it had been read, where reading is a part of what is measured."""


def header_sum(owner: int, sequence: int, intended_ns: int) -> int:
    """Part of the checksum that comes from the header."""
    sequence &= WORD_MASK
    intended_ns &= WORD_MASK
    return (
        (owner ^ owner >> _MIX_BITS) * _OWNER_WEIGHT
        + (sequence ^ sequence >> _MIX_BITS) * _SEQUENCE_WEIGHT
        + (intended_ns ^ intended_ns >> _MIX_BITS) * _INTENDED_WEIGHT
    ) & WORD_MASK


def signed_producer(owner: int) -> int:
    """As a column of 32 bits has it: who writes to a topic is not known."""
    producer = owner >> 32
    return producer - (1 << 32) if producer >= 1 << 31 else producer


def message_sum_in_python(header: bytes, body: bytes) -> int:
    """The twin of the compiled `checksum`."""
    owner, sequence, intended_ns, _ = HEADER_PACKED.unpack(header)
    return (header_sum(owner, sequence, intended_ns) + _body_sum(body)) & WORD_MASK


def _body_sum(body: bytes) -> int:
    count = -(-len(body) // 8)
    if count > _MOST_WORDS:
        return int(body_sums([body])[0])
    words: tuple[int, ...] = struct.unpack(f"<{count}Q", body + b"\0" * (-len(body) % 8))
    mixed = [word ^ word >> _MIX_BITS for word in words]
    whole: int = sum(map(mul, mixed, _body_weights(count)), len(body) * _LENGTH_WEIGHT)
    return whole & WORD_MASK


@lru_cache(maxsize=_MOST_WORDS + 1)
def _body_weights(count: int) -> list[int]:
    numbers: list[int] = weights(HEADER_WORDS + count)[HEADER_WORDS:].tolist()
    return numbers


def message_in_python(owner: int, sequence: int, intended_ns: int, body: bytes, body_sum: int) -> bytes:
    """The twin of the compiled `message`."""
    checksum = (header_sum(owner, sequence, intended_ns) + body_sum) & WORD_MASK
    return HEADER_PACKED.pack(owner, sequence, intended_ns, checksum) + body


def identify_in_python(value: bytes, tag: int) -> tuple[int, int, int, int]:
    """The twin of the compiled `identify`."""
    head = value[:HEADER_BYTES]
    if len(head) < HEADER_BYTES:
        return UNEXPECTED, 0, 0, 0
    owner, sequence, intended_ns, checksum = HEADER_PACKED.unpack(head)
    state = UNEXPECTED
    if owner & 0xFFFFFFFF == tag:
        state = INTACT if message_sum(head, value[HEADER_BYTES:]) == checksum else CORRUPT
    return state, signed_producer(owner), sequence, intended_ns


message_sum = message_sum_in_python if _LOOPS is None else _LOOPS.checksum
"""Of one message, by its header and its body: the whole checksum."""
message = message_in_python if _LOOPS is None else _LOOPS.message
"""One message, by its header's words, its body, and what the body adds to the checksum."""
identify = identify_in_python if _LOOPS is None else _LOOPS.identify
"""State, producer, sequence and intended time of one message that carries its header, or of any bytes."""

assert HEADER_PACKED.size == HEADER_BYTES
assert np.uint64(WORD_MASK) == np.iinfo(np.uint64).max
