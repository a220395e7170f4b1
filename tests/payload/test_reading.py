from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.payload.header import HEADER_BYTES
from streamgauge.payload.making import MessageMaker
from streamgauge.payload.reading import Identities, MessageReader
from streamgauge.spec.load import Message
from streamgauge.tables.events import CORRUPT, INTACT, UNEXPECTED

from ..core.properties import untimed
from .samples import TAG, carried, made, specs

pytestmark = pytest.mark.usefixtures("few_bodies")

times = st.integers(-(2**62), 2**62)


def message(**fields: Any) -> Message:
    return Message.model_validate(fields)


def read(spec: Message, values: list[bytes], heads: list[bytes | None] | None, tag: int = TAG) -> Identities:
    return MessageReader(spec.carrier, tag).read(values, heads)


@given(
    specs,
    st.integers(1, 2**32 - 1),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**62),
    st.lists(times, min_size=1, max_size=40),
)
@untimed
def test_what_was_made_is_read_back_the_same(
    spec: Message, tag: int, producer: int, first: int, intended: list[int]
) -> None:
    batch = MessageMaker(spec, tag, producer).make(first, np.array(intended, np.int64))
    found = read(spec, batch.values, carried(spec, batch), tag)
    assert set(found.state.tolist()) == {INTACT}
    assert set(found.producer.tolist()) == {producer}
    assert found.sequence.tolist() == list(range(first, first + len(intended)))
    assert found.intended_ns.tolist() == intended
    assert found.size_bytes.tolist() == [len(value) for value in batch.values]


@given(specs, st.integers(1, 20), st.data())
@untimed
def test_a_flipped_bit_spoils_its_own_message_and_no_other(
    spec: Message, count: int, data: st.DataObject
) -> None:
    batch = made(spec, count)
    values, heads = list(batch.values), carried(spec, batch)
    row = data.draw(st.integers(0, count - 1))
    parts: list[Any] = [part for part in (values, heads) if part is not None and part[row]]
    part = data.draw(st.sampled_from(parts))
    bit = data.draw(st.integers(0, 8 * len(part[row]) - 1))
    spoilt = bytearray(part[row])
    spoilt[bit // 8] ^= 1 << bit % 8
    part[row] = bytes(spoilt)
    found = read(spec, values, heads)
    # A damaged tag makes a message somebody else's; all other damage shows as such.
    in_tag = bit < 32 and (part is heads or spec.carrier == "value")
    expected = [INTACT] * count
    expected[row] = UNEXPECTED if in_tag else CORRUPT
    assert found.state.tolist() == expected


@given(specs, st.integers(1, 10), st.data())
@untimed
def test_a_truncated_value_is_not_intact(spec: Message, count: int, data: st.DataObject) -> None:
    batch = made(spec, count)
    row = data.draw(st.integers(0, count - 1))
    values = list(batch.values)
    if not values[row]:
        values[row] = b"\0"
    else:
        values[row] = values[row][: data.draw(st.integers(0, len(values[row]) - 1))]
    found = read(spec, values, carried(spec, batch))
    assert (found.state != INTACT).tolist() == [place == row for place in range(count)]


@given(specs, st.data())
@untimed
def test_bodies_that_change_places_are_noticed(spec: Message, data: st.DataObject) -> None:
    batch = made(spec, 12)
    skip = HEADER_BYTES if spec.carrier == "value" else 0
    first, second = sorted(data.draw(st.sets(st.integers(0, 11), min_size=2, max_size=2)))
    values = list(batch.values)
    one, other = values[first], values[second]
    values[first], values[second] = one[:skip] + other[skip:], other[:skip] + one[skip:]
    found = read(spec, values, carried(spec, batch))
    spoilt = {first, second} if one[skip:] != other[skip:] else set()
    assert {row for row, state in enumerate(found.state.tolist()) if state == CORRUPT} == spoilt


@given(specs)
@untimed
def test_messages_of_another_case_are_unexpected(spec: Message) -> None:
    batch = made(spec, 5, tag=TAG + 1)
    assert read(spec, batch.values, carried(spec, batch)).state.tolist() == [UNEXPECTED] * 5


@pytest.mark.parametrize("foreign", [b"", b"hello", b"x" * 31, b"x" * 32, b"x" * 700])
@pytest.mark.parametrize("fields", [{"size": 100}, {"size": 5}, {"size": 5, "header_in": "headers"}])
def test_foreign_records_are_unexpected_and_do_not_spoil_ours(fields: dict[str, Any], foreign: bytes) -> None:
    spec = message(**fields)
    batch = made(spec, 2)
    heads = carried(spec, batch)
    values = [foreign, batch.values[0], foreign, batch.values[1]]
    mixed = None if heads is None else [None, heads[0], b"short", heads[1]]
    found = read(spec, values, mixed)
    assert found.state.tolist() == [UNEXPECTED, INTACT, UNEXPECTED, INTACT]
    assert found.sequence[[1, 3]].tolist() == [0, 1]
    assert found.size_bytes.tolist() == [len(value) for value in values]


def test_a_reader_goes_on_over_batches_of_changing_sizes_and_lengths() -> None:
    reader = MessageReader("value", TAG)
    for size, times_over in [(33, 1), (39, 3), (33, 1), (40, 1), (38, 1), (700, 2), (33, 3)]:
        found = reader.read(made(message(size=size), 1000).values * times_over, None)
        assert set(found.state.tolist()) == {INTACT}
        assert found.sequence.tolist() == list(range(1000)) * times_over


def test_the_first_message_may_be_shorter_than_a_header() -> None:
    values = [b"short", *made(message(size=64), 3).values]
    assert read(message(size=64), values, None).state.tolist() == [UNEXPECTED] + [INTACT] * 3
