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


def test_bodies_of_different_sizes_follow_the_sequence() -> None:
    spec = message(size={"distribution": "uniform", "min": 32, "max": 90})
    whole = made(spec, 30).values
    maker = MessageMaker(spec, TAG, 0)
    parts = maker.make(0, np.zeros(7, np.int64)).values + maker.make(7, np.zeros(23, np.int64)).values
    assert [value[HEADER_BYTES:] for value in parts] == [value[HEADER_BYTES:] for value in whole]


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
