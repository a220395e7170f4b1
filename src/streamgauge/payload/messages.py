"""Which maker and which reader the messages of a load need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import Clock
from streamgauge.payload.few import Found
from streamgauge.payload.making import Ingredients, MessageMaker, Outgoing
from streamgauge.payload.reading import Identities, MessageReader, Packed
from streamgauge.spec.load import Message, ProtobufOrder

_SEQUENCE_AT = 8
_ORDER_SEQUENCE_AT = 10
"""Behind two tags of a byte and the owner: all three fields have fixed lengths and are always there."""


class Maker(Protocol):
    @property
    def batch_limit(self) -> int: ...

    def sizes(self, first_sequence: int, count: int) -> NDArray[np.int64]: ...

    def make(self, first_sequence: int, intended_ns: NDArray[np.int64]) -> Outgoing: ...

    def ingredients(self) -> Ingredients | None:
        """For whoever makes the messages beneath Python; None: only `make` can."""


class Reader(Protocol):
    def read(self, values: list[bytes] | Packed, carried: list[bytes | None] | None) -> Identities: ...

    def read_few(self, values: Sequence[bytes], carried: list[bytes | None] | None) -> list[Found]:
        """The same, of at most `FEW` records: one by one."""


def maker_of(message: Message, tag: int, producer: int) -> Maker:
    if isinstance(message.size, ProtobufOrder):
        # Not at the top: most loads need no protobuf.
        from streamgauge.payload.orders import OrderMaker

        return OrderMaker(tag, producer)
    return MessageMaker(message, tag, producer)


def reader_of(message: Message, tag: int, clock: Clock) -> Reader:
    if isinstance(message.size, ProtobufOrder):
        from streamgauge.payload.orders import OrderReader

        return OrderReader(tag, clock)
    return MessageReader(message.carrier, tag)


def sequence_at(message: Message) -> int:
    """Where the sequence number stands in what carries the header."""
    return _ORDER_SEQUENCE_AT if isinstance(message.size, ProtobufOrder) else _SEQUENCE_AT
