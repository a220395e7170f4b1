"""Protobuf orders: made and serialised one by one, parsed and checked one by one, as an application would.

The message header (see `header`) is four fields of the order. For the checksum an order is nine words:
those of the header, instrument (8 bytes), price, quantity with the side above it, and account (16 bytes).
`jvm/transports/Orders.java` is the same in Java.
"""

from __future__ import annotations

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
        self._size = len(self.make(0, np.zeros(1, np.int64)).values[0])

    def sizes(self, first_sequence: int, count: int) -> NDArray[np.int64]:
        return np.full(count, self._size, np.int64)

    def ingredients(self) -> None:
        """Serialising is a part of what is measured: nobody else does it."""

    def make(self, first_sequence: int, intended_ns: NDArray[np.int64]) -> Outgoing:
        count, pool, owner = len(intended_ns), self.pool, self._owner
        numbers = np.arange(first_sequence, first_sequence + count) % ORDER_COUNT
        rows = self._rows[numbers]
        rows["sequence"] = np.arange(first_sequence, first_sequence + count)
        rows["intended_ns"] = intended_ns
        sums = checksums(rows).tolist()
        values = []
        for row, (number, due_ns) in enumerate(zip(numbers.tolist(), intended_ns.tolist(), strict=True)):
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


class OrderReader:
    """Knows the messages of one case; the twin of `reading.MessageReader`. Each is stamped when parsed."""

    def __init__(self, tag: int, clock: Clock) -> None:
        self._tag, self._clock = np.uint64(tag), clock

    def read(self, values: list[bytes] | Packed, carried: list[bytes | None] | None) -> Identities:
        """`carried` is nothing here: orders carry their header themselves."""
        if isinstance(values, Packed):
            values = values.split()
        now_ns, parse = self._clock.now_ns, Order.FromString
        found: list[tuple[Any, ...]] = []
        stamps: list[int] = []
        for value in values:
            try:
                order = parse(value)
                instrument, account = order.instrument, order.account
                fields = (
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
                is_whole = len(instrument) == _INSTRUMENT_BYTES and len(account) == _ACCOUNT_BYTES
                found.append(fields if is_whole else _damaged(order))
            except DecodeError:
                found.append(_NO_ORDER)
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


def _damaged(order: Any) -> tuple[Any, ...]:
    """Whose it is, with a checksum that cannot be right."""
    return (order.owner, order.sequence, order.intended_ns, ~np.uint64(length_sum()), b"", 0, 0, 0, b"")


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


assert CHECKSUM_WORD < HEADER_WORDS < ORDER_WORDS
