"""Protobuf orders: made and serialised one by one, parsed and checked one by one, as an application would.

The message header (see `header`) is four fields of the order. For the checksum an order is nine words:
those of the header, instrument (8 bytes), price, quantity with the side above it, and account (16 bytes).
`jvm/transports/Orders.java` is the same in Java.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from streamgauge.core.clock import Clock
from streamgauge.payload.checksum import Words, length_sums, mixed, weights
from streamgauge.payload.few import FEW, WORD_MASK, Found, header_sum, message_sum, signed_producer
from streamgauge.payload.header import CHECKSUM_WORD, HEADER_BYTES, HEADER_WORDS
from streamgauge.payload.making import Outgoing
from streamgauge.payload.reading import Identities, Packed
from streamgauge.tables.events import CORRUPT, INTACT, UNEXPECTED

ORDER_WORDS = 9
ORDER_COUNT = 1024
"""Different orders; message k is order k modulo their number."""
_INSTRUMENT_BYTES, _ACCOUNT_BYTES = 8, 16
_CANONICAL = np.dtype(
    [
        ("owner", "<u8"),
        ("sequence", "<i8"),
        ("intended_ns", "<i8"),
        ("checksum", "<u8"),
        ("instrument", f"S{_INSTRUMENT_BYTES}"),
        ("price", "<i8"),
        ("quantity", "<u4"),
        ("side", "<u4"),
        ("account", f"S{_ACCOUNT_BYTES}"),
    ]
)
assert _CANONICAL.itemsize == 8 * ORDER_WORDS
_PACKED = struct.Struct(f"<QqqQ{_INSTRUMENT_BYTES}sqII{_ACCOUNT_BYTES}s")
"""The same for one order."""
_NO_ORDER = (0, 0, 0, 0, b"", 0, 0, 0, b"")
_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", np.uint8)


def _order_class() -> Any:
    """What protoc made of order.proto; see tools/compile_orders.py."""
    compiled = resources.files("streamgauge.payload").joinpath("order.desc").read_bytes()
    [file] = FileDescriptorSet.FromString(compiled).file
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("streamgauge.Order"))


Order = _order_class()


@dataclass(frozen=True)
class OrderPool:
    """The orders that one producer sends, over and over."""

    instruments: list[str]
    sides: list[int]
    prices: list[int]
    quantities: list[int]
    accounts: list[str]

    @classmethod
    def of(cls, tag: int, producer: int) -> OrderPool:
        rng = np.random.default_rng((tag, producer))

        def names(letters: int) -> list[str]:
            drawn = _LETTERS[rng.integers(0, len(_LETTERS), (ORDER_COUNT, letters))]
            return [bytes(row).decode() for row in drawn]

        return cls(
            names(_INSTRUMENT_BYTES),
            rng.integers(1, 3, ORDER_COUNT).tolist(),
            rng.integers(1, 10_000_000, ORDER_COUNT).tolist(),
            # Of two bytes each, so that all orders have the same length.
            rng.integers(128, 16_384, ORDER_COUNT).tolist(),
            names(_ACCOUNT_BYTES),
        )

    def canonical(self) -> NDArray[np.void]:
        rows = np.zeros(len(self.prices), _CANONICAL)
        rows["instrument"], rows["account"] = self.instruments, self.accounts
        rows["price"], rows["quantity"], rows["side"] = self.prices, self.quantities, self.sides
        return rows


class OrderMaker:
    """Makes the messages of one producer; the twin of `making.MessageMaker`."""

    batch_limit = ORDER_COUNT

    def __init__(self, tag: int, producer: int) -> None:
        self.pool = OrderPool.of(tag, producer)
        self._owner = owner_word(tag, producer)
        self._rows = self.pool.canonical()
        self._rows["owner"] = self._owner
        # What an order itself adds to its checksum: with a header of zeros there is nothing else in it.
        self._own_sums: list[int] = checksums(self.pool.canonical()).tolist()
        self._size = len(self.make(0, np.zeros(1, np.int64)).values[0])

    def sizes(self, first_sequence: int, count: int) -> NDArray[np.int64]:
        return np.full(count, self._size, np.int64)

    def ingredients(self) -> None:
        """Serialising is a part of what is measured: nobody else does it."""

    def make(self, first_sequence: int, intended_ns: NDArray[np.int64]) -> Outgoing:
        count, pool, owner = len(intended_ns), self.pool, self._owner
        if count <= FEW:
            sums = self._few_sums(first_sequence, intended_ns.tolist())
        else:
            sums = self._sums(first_sequence, intended_ns)
        values = []
        for row, due_ns in enumerate(intended_ns.tolist()):
            number = (first_sequence + row) % ORDER_COUNT
            order = Order(
                owner=owner,
                sequence=first_sequence + row,
                intended_ns=due_ns,
                checksum=sums[row],
                instrument=pool.instruments[number],
                side=pool.sides[number],
                price=pool.prices[number],
                quantity=pool.quantities[number],
                account=pool.accounts[number],
            )
            values.append(order.SerializeToString())
        return Outgoing(first_sequence, values, None, None)

    def _sums(self, first_sequence: int, intended_ns: NDArray[np.int64]) -> list[int]:
        sequences = np.arange(first_sequence, first_sequence + len(intended_ns))
        rows = self._rows[sequences % ORDER_COUNT]
        rows["sequence"], rows["intended_ns"] = sequences, intended_ns
        sums: list[int] = checksums(rows).tolist()
        return sums

    def _few_sums(self, first_sequence: int, intended_ns: list[int]) -> list[int]:
        return [
            (header_sum(self._owner, sequence, due_ns) + self._own_sums[sequence % ORDER_COUNT]) & WORD_MASK
            for sequence, due_ns in enumerate(intended_ns, first_sequence)
        ]


class OrderReader:
    """Knows the messages of one case; the twin of `reading.MessageReader`. Each is stamped when parsed."""

    def __init__(self, tag: int, clock: Clock) -> None:
        self._tag, self._own_tag, self._clock = np.uint64(tag), tag, clock

    def read(self, values: list[bytes] | Packed, carried: list[bytes | None] | None) -> Identities:
        """`carried` is nothing here: orders carry their header themselves."""
        if isinstance(values, Packed):
            values = values.split()
        now_ns = self._clock.now_ns
        found: list[tuple[Any, ...]] = []
        stamps: list[int] = []
        for value in values:
            found.append(_fields(value))
            stamps.append(now_ns())
        rows = np.array(found, _CANONICAL)
        ours = (rows["owner"] & np.uint64(0xFFFFFFFF)) == self._tag
        intact = checksums(rows) == rows["checksum"]
        return Identities(
            state=np.where(ours, np.where(intact, INTACT, CORRUPT), UNEXPECTED).astype(np.int8),
            producer=(rows["owner"] >> np.uint64(32)).astype(np.int32),
            sequence=rows["sequence"],
            intended_ns=rows["intended_ns"],
            size_bytes=np.fromiter(map(len, values), np.int64, len(values)),
            read_ns=np.array(stamps, np.int64),
        )

    def read_few(self, values: Sequence[bytes], carried: list[bytes | None] | None) -> list[Found]:
        """The same, of a few orders: one by one."""
        found = []
        for value in values:
            fields = _fields(value)
            read_ns = self._clock.now_ns()
            owner, sequence, intended_ns, checksum = fields[:HEADER_WORDS]
            state = UNEXPECTED
            if owner & 0xFFFFFFFF == self._own_tag:
                packed = _PACKED.pack(*fields)
                is_intact = message_sum(packed[:HEADER_BYTES], packed[HEADER_BYTES:]) == checksum
                state = INTACT if is_intact else CORRUPT
            found.append(Found(state, signed_producer(owner), sequence, intended_ns, read_ns))
        return found


def _fields(value: bytes) -> tuple[Any, ...]:
    """Of an order, in the order of its words; parsed, as an application would."""
    try:
        order = Order.FromString(value)
    except DecodeError:
        return _NO_ORDER
    instrument, account = order.instrument, order.account
    if len(instrument) != _INSTRUMENT_BYTES or len(account) != _ACCOUNT_BYTES:
        return _damaged(order)
    return (
        order.owner,
        order.sequence,
        order.intended_ns,
        order.checksum,
        instrument.encode(),
        order.price,
        order.quantity,
        order.side & 0xFFFFFFFF,
        account.encode(),
    )


def _damaged(order: Any) -> tuple[Any, ...]:
    """Whose it is, with a checksum that cannot be right."""
    return (order.owner, order.sequence, order.intended_ns, _WRONG_SUM, b"", 0, 0, 0, b"")


def owner_word(tag: int, producer: int) -> int:
    return tag | producer << 32


def checksums(rows: NDArray[np.void]) -> Words:
    words = np.ascontiguousarray(rows).view("<u8").reshape(len(rows), ORDER_WORDS)
    sums: Words = np.einsum("ij,j->i", mixed(words), weights(ORDER_WORDS)) + length_sum()
    return sums


def length_sum() -> np.uint64:
    """Part of the checksum that comes from the length, always the same."""
    length = 8 * ORDER_WORDS - HEADER_BYTES
    return np.uint64(length_sums(np.array([length]))[0])


_WRONG_SUM = int(~length_sum())

assert _PACKED.size == _CANONICAL.itemsize
assert CHECKSUM_WORD < HEADER_WORDS < ORDER_WORDS
