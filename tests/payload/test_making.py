from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.payload.header import HEADER_BYTES, RECORD_HEADER
from streamgauge.payload.making import MessageMaker
from streamgauge.spec.load import Message

from ..core.properties import untimed
from .samples import TAG, made, specs

pytestmark = pytest.mark.usefixtures("few_bodies")


def message(**fields: Any) -> Message:
    return Message.model_validate(fields)


@given(specs, st.integers(1, 40), st.integers(0, 2**40))
@untimed
def test_sizes_told_are_the_sizes_made(spec: Message, count: int, first: int) -> None:
    maker = MessageMaker(spec, TAG, 0)
    batch = maker.make(first, np.zeros(count, np.int64))
    assert [len(value) for value in batch.values] == maker.sizes(first, count).tolist()
    assert len(batch) == count


@given(specs, st.integers(1, 30), st.data())
@untimed
def test_the_rest_of_a_batch_is_what_was_not_taken(spec: Message, count: int, data: st.DataObject) -> None:
    batch = made(spec, count, first=100)
    taken = data.draw(st.integers(0, count))
    rest = batch.rest(taken)
    assert rest.first_sequence == 100 + taken
    assert rest.values == batch.values[taken:]
    assert rest.keys == (batch.keys and batch.keys[taken:])
    assert rest.headers == (batch.headers and batch.headers[taken:])


def test_the_same_producer_makes_the_same_messages_again_and_another_does_not() -> None:
    spec = message(size=100, keys={"kind": "random", "of": 5})
    assert made(spec, 50) == made(spec, 50)
    assert made(spec, 50).values != made(spec, 50, producer=1).values
    assert made(spec, 50).keys != made(spec, 50, producer=1).keys


def test_messages_already_made_do_not_change_when_more_are() -> None:
    for spec in (message(size=100), message(size={"distribution": "uniform", "min": 40, "max": 90})):
        maker = MessageMaker(spec, TAG, 0)
        first = maker.make(0, np.zeros(10, np.int64))
        before = list(first.values)
        maker.make(10, np.ones(10, np.int64))
        assert first.values == before


@given(specs, st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(0, 2**40))
@untimed
def test_a_message_is_the_same_in_whatever_batch_it_goes(spec: Message, parts: list[int], first: int) -> None:
    """But for random keys, which are drawn as batches come."""
    maker, due = MessageMaker(spec, TAG, 0), np.arange(first, first + sum(parts))
    singly = [maker.make(int(k), due[k - first : k - first + 1]) for k in due]
    at = 0
    for count in parts:
        batch = maker.make(first + at, due[at : at + count])
        alone = singly[at : at + count]
        assert batch.values == [one.values[0] for one in alone]
        assert batch.headers == (None if batch.headers is None else [(one.headers or [])[0] for one in alone])
        at += count


def test_messages_sent_one_by_one_have_bodies_of_their_own() -> None:
    maker = MessageMaker(message(size=100), TAG, 0)
    sent = [maker.make(k, np.array([k])).values[0] for k in range(2000)]
    assert len({value[HEADER_BYTES:] for value in sent}) == 2000


def test_producers_of_a_process_do_not_write_into_each_others_messages() -> None:
    spec, due = message(size=100), np.arange(50)
    one, other = (MessageMaker(spec, TAG, number) for number in (0, 1))
    first, between, again = one.make(0, due), other.make(0, due), one.make(0, due)
    assert first == again
    assert [value[4:8] for value in between.values] == [b"\1\0\0\0"] * 50


def test_more_messages_than_there_are_bodies_cannot_be_made_at_once() -> None:
    maker = MessageMaker(message(size=100), TAG, 0)
    assert len(maker.make(0, np.zeros(maker.batch_limit, np.int64))) == maker.batch_limit
    with pytest.raises(ValueError, match=f"at most {maker.batch_limit}"):
        maker.make(0, np.zeros(maker.batch_limit + 1, np.int64))


def test_keys_go_round_with_the_sequence() -> None:
    batch = made(message(keys={"kind": "round_robin", "of": 3}), 5, first=4)
    assert batch.keys == [b"key-1", b"key-2", b"key-0", b"key-1", b"key-2"]


def test_random_keys_are_those_asked_for_and_all_occur() -> None:
    batch = made(message(keys={"kind": "random", "of": 4}), 500)
    assert set(batch.keys or []) == {b"key-0", b"key-1", b"key-2", b"key-3"}


def test_without_keys_and_headers_there_are_none() -> None:
    batch = made(message(size=100), 3)
    assert batch.keys is None
    assert batch.headers is None


def test_record_headers_asked_for_are_in_every_message() -> None:
    assert made(message(size=100, headers={"a": "é"}), 2).headers == [[("a", "é".encode())]] * 2


def test_the_carrying_record_header_comes_beside_those_asked_for() -> None:
    batch = made(message(size=5, header_in="headers", headers={"a": "1"}), 2)
    assert batch.headers is not None
    assert [[name for name, _ in headers] for headers in batch.headers] == [["a", RECORD_HEADER]] * 2
    assert {len(value) for value in batch.values} == {5}


def test_a_key_that_carries_the_header_is_only_that() -> None:
    batch = made(message(size=5, header_in="key"), 3)
    assert [len(key) for key in batch.keys or []] == [HEADER_BYTES] * 3
    assert {len(value) for value in batch.values} == {5}
