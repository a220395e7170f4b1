"""A few messages, one by one: as a batch has them, and the compiled functions as their twins have it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.native.loading import compiled_loops
from streamgauge.payload.few import (
    FEW,
    identify,
    identify_in_python,
    message,
    message_in_python,
    message_sum,
    message_sum_in_python,
)
from streamgauge.payload.header import HEADER_BYTES
from streamgauge.payload.making import MessageMaker
from streamgauge.payload.orders import OrderMaker, OrderReader
from streamgauge.payload.reading import MessageReader
from streamgauge.spec.load import Message
from tests.native.played_librdkafka import COMPILES

from ..core.properties import untimed
from .samples import TAG, carried, specs

pytestmark = pytest.mark.usefixtures("few_bodies")

words, times = st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1)
bodies = st.one_of(st.binary(max_size=40), st.binary(min_size=500, max_size=600))


class StillClock:
    def now_ns(self) -> int:
        return 5


@pytest.mark.skipif(not COMPILES, reason="there is no C compiler here")
def test_the_compiled_functions_are_in_use_where_they_can_be_built() -> None:
    loops: Any = compiled_loops()
    assert (message, identify, message_sum) == (loops.message, loops.identify, loops.checksum)


@given(words, times, times, bodies, words, st.integers(0, 2**32 - 1))
@untimed
def test_compiled_functions_give_what_their_twins_give(
    owner: int, sequence: int, intended_ns: int, body: bytes, body_sum: int, tag: int
) -> None:
    made = message(owner, sequence, intended_ns, body, body_sum)
    assert made == message_in_python(owner, sequence, intended_ns, body, body_sum)
    head = made[:HEADER_BYTES]
    whole = message_sum(head, body)
    assert whole == message_sum_in_python(head, body)
    intact = head[:24] + whole.to_bytes(8, "little") + body
    for value in (made, intact, intact[:-1], body, made[: len(body)]):
        for whose in (tag, owner & 0xFFFFFFFF):
            assert identify(value, whose) == identify_in_python(value, whose)


@given(specs, st.integers(0, 2**31 - 1), st.integers(0, 2**40), st.integers(1, FEW), st.data())
@untimed
def test_a_few_are_made_and_read_as_a_batch_is(
    spec: Message, producer: int, first: int, count: int, data: st.DataObject
) -> None:
    intended = data.draw(st.lists(times, min_size=FEW + 4, max_size=FEW + 4))
    many = MessageMaker(spec, TAG, producer).make(first, np.array(intended, np.int64))
    few = MessageMaker(spec, TAG, producer).make(first, np.array(intended[:count], np.int64))
    assert few.values == many.values[:count]
    assert few.headers == (many.headers and many.headers[:count])
    # Keys that are drawn by chance are drawn batch by batch.
    if spec.keys.kind != "random" or spec.carrier == "key":
        assert few.keys == (many.keys and many.keys[:count])
    values, heads = list(few.values), carried(spec, few)
    row, kind = data.draw(st.integers(0, count - 1)), data.draw(st.sampled_from(["", "cut", "other", "none"]))
    if kind == "cut":
        values[row] = values[row][: data.draw(st.integers(0, len(values[row])))]
    elif kind == "other":
        values[row] = data.draw(st.binary(max_size=60))
    elif kind == "none" and heads is not None:
        heads[row] = None
    same_answers(MessageReader(spec.carrier, TAG), values, heads)


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**40), st.lists(times, min_size=1, max_size=FEW), st.data())
@untimed
def test_a_few_orders_are_made_and_read_as_a_batch_is(
    producer: int, first: int, intended: list[int], data: st.DataObject
) -> None:
    maker = OrderMaker(TAG, producer)
    few = maker.make(first, np.array(intended, np.int64))
    many = maker.make(first, np.array([*intended, *range(FEW)], np.int64))
    assert few.values == many.values[: len(intended)]
    values = list(few.values)
    row = data.draw(st.integers(0, len(values) - 1))
    spoilt = bytearray(values[row])
    spoilt[data.draw(st.integers(0, len(spoilt) - 1))] ^= data.draw(st.integers(0, 255))
    values[row] = bytes(spoilt)
    for tag in (TAG, TAG + 1):
        same_answers(OrderReader(tag, StillClock()), values, None)  # type: ignore[arg-type]


def same_answers(reader: Any, values: list[bytes], heads: list[bytes | None] | None) -> None:
    batch, few = reader.read(values, heads), reader.read_few(values, heads)
    assert [found.state for found in few] == batch.state.tolist()
    assert [found.producer for found in few] == batch.producer.tolist()
    assert [found.sequence for found in few] == batch.sequence.tolist()
    assert [found.intended_ns for found in few] == batch.intended_ns.tolist()
    assert [found.read_ns for found in few] == (
        [None] * len(few) if batch.read_ns is None else batch.read_ns.tolist()
    )
