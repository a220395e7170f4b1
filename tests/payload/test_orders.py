from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from streamgauge.core.clock import Clock
from streamgauge.payload.orders import Order, OrderMaker, OrderReader
from streamgauge.tables.events import CORRUPT, INTACT, UNEXPECTED

TAG = 4711


def values(first: int = 0, count: int = 10, producer: int = 3) -> list[bytes]:
    return OrderMaker(TAG, producer).make(first, np.arange(count) + 1_000_000).values


def read(found: list[bytes], tag: int = TAG) -> list[int]:
    return OrderReader(tag, Clock()).read(found, None).state.tolist()


def test_every_order_has_78_bytes_zero_and_negative_numbers_too() -> None:
    assert {len(value) for first in (-5, 0, 2**40) for value in values(first)} == {78}
    assert OrderMaker(TAG, 0).sizes(0, 2).tolist() == [78, 78]


def test_what_was_made_is_read() -> None:
    found = OrderReader(TAG, Clock()).read(values(first=2**33), None)
    assert found.state.tolist() == [INTACT] * 10
    assert found.producer.tolist() == [3] * 10
    assert found.sequence.tolist() == list(range(2**33, 2**33 + 10))
    assert found.intended_ns.tolist() == list(range(1_000_000, 1_000_010))
    assert found.size_bytes.tolist() == [78] * 10


def test_each_is_stamped_when_it_has_been_parsed() -> None:
    class Counting(Clock):
        ticks = 0

        def now_ns(self) -> int:
            self.ticks += 1
            return self.ticks

    found = OrderReader(TAG, Counting()).read(values(count=4), None)
    assert found.read_ns is not None
    assert found.read_ns.tolist() == [1, 2, 3, 4]


def test_no_change_of_one_bit_goes_unnoticed() -> None:
    # Not message 0: a zero that is left out reads the same.
    [value] = values(first=77, count=1)
    for place in range(8 * len(value)):
        damaged = bytearray(value)
        damaged[place // 8] ^= 1 << place % 8
        assert read([bytes(damaged)]) != [INTACT], f"bit {place}"


def test_orders_of_others_are_unexpected() -> None:
    assert read(values(count=2), tag=12) == [UNEXPECTED] * 2
    assert read([b"", b"\xff\xff", b"no order at all"]) == [UNEXPECTED] * 3


@pytest.mark.parametrize("field", ["instrument", "account"])
def test_text_of_another_length_is_corrupt(field: str) -> None:
    order = Order.FromString(values(count=1)[0])
    setattr(order, field, getattr(order, field)[:-1])
    assert read([order.SerializeToString()]) == [CORRUPT]


def test_what_is_checked_in_is_what_the_proto_compiles_to() -> None:
    tool = Path(__file__).parents[2] / "tools" / "compile_orders.py"
    ran = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stdout + ran.stderr
