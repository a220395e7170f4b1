from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.spec.load import MESSAGE_HEADER_BYTES, Load, Message

from ..core.properties import untimed

RANDOM_KEYS = {"kind": "random", "of": 5}


def test_quantities_may_have_units() -> None:
    load = Load.model_validate(
        {"duration": "2min", "rate": "10k/s", "message": {"size": "1KiB"}, "topics": {"partitions": "1k"}}
    )
    assert (load.duration, load.rate, load.message.size, load.topics.partitions) == (120.0, 1e4, 1024, 1000)


@pytest.mark.parametrize("text", ["unlimited", "Unlimited", " unlimited "])
def test_unlimited_is_a_rate(text: str) -> None:
    assert Load.model_validate({"messages": 1, "rate": text}).rate == "unlimited"


@pytest.mark.parametrize(("given_acks", "acks"), [(0, "0"), (1, "1"), ("1", "1"), ("all", "all")])
def test_acks_may_be_a_number(given_acks: object, acks: str) -> None:
    assert Load.model_validate({"messages": 1, "acks": given_acks}).acks == acks


@pytest.mark.parametrize(
    ("message", "carrier"),
    [
        ({"size": MESSAGE_HEADER_BYTES}, "value"),
        ({"size": MESSAGE_HEADER_BYTES - 1}, "key"),
        ({"size": 0}, "key"),
        ({"size": 10, "keys": RANDOM_KEYS}, "headers"),
        ({"size": 700, "keys": RANDOM_KEYS}, "value"),
        ({"size": {"distribution": "uniform", "min": 32, "max": 50}}, "value"),
        ({"size": {"distribution": "uniform", "min": 31, "max": 50}}, "key"),
        ({"size": {"lines_of": "f"}}, "key"),
        ({"size": {"lines_of": "f"}, "keys": RANDOM_KEYS}, "headers"),
        ({"size": {"lines_of": "f"}, "header_in": "value"}, "value"),
        ({"size": {"protobuf": "order"}}, "value"),
        ({"size": 700, "header_in": "key"}, "key"),
        ({"size": 700, "header_in": "headers"}, "headers"),
    ],
)
def test_the_header_travels_where_it_fits(message: dict[str, Any], carrier: str) -> None:
    assert Message.model_validate(message).carrier == carrier


@pytest.mark.parametrize(
    ("load", "total"),
    [
        ({"messages": 1000}, 1000),
        ({"messages": 1000, "rate": 5}, 1000),
        ({"duration": 2, "rate": 100}, 200),
        ({"duration": 2, "rate": 100.4}, 200),
        ({"duration": 0.29, "rate": 100}, 29),
        ({"duration": 1, "rate": 1, "producers": 4}, 4),
        ({"duration": 2}, None),
        ({"rate": [{"rate": 100, "for": 2}, {"rate": 50, "for": 1.5}]}, 275),
    ],
)
def test_total_messages(load: dict[str, Any], total: int | None) -> None:
    assert Load.model_validate(load).total_messages == total


@given(st.integers(1, 100_000), st.integers(1, 100_000))
@untimed
def test_no_message_is_lost_to_floating_point(per_s: int, duration_ms: int) -> None:
    load = Load.model_validate({"duration": f"{duration_ms}ms", "rate": per_s})
    assert load.total_messages == max(1, per_s * duration_ms // 1000)


def test_a_workload_cannot_be_changed_once_read() -> None:
    load = Load(messages=1)
    with pytest.raises(ValueError, match="frozen"):
        load.messages = 2


STREAMS = {"streams": "per_partition", "topics": {"count": 2, "partitions": 3}}


def test_each_partitions_own_stream_has_a_size_in_bytes() -> None:
    load = Load.model_validate({**STREAMS, "stream_size": "1KiB", "message": {"size": 64}})
    assert (load.partition_count, load.producer_count, load.consumer_count) == (6, 6, 6)
    assert load.total_messages == 6 * 16


def test_what_is_left_over_of_a_stream_is_not_sent() -> None:
    load = Load.model_validate({**STREAMS, "stream_size": 1000, "message": {"size": 64}})
    assert load.total_messages == 6 * 15


def test_without_consumers_a_stream_is_only_produced() -> None:
    load = Load.model_validate({**STREAMS, "messages": 60, "consumers": 0})
    assert (load.producer_count, load.consumer_count) == (6, 0)


def test_a_warm_up_of_each_stream_adds_up() -> None:
    load = Load.model_validate({**STREAMS, "messages": 60, "stream_warm_up_messages": 2})
    assert load.total_warm_up_messages == 12


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"stream_size": 1000}, "own stream; set streams: per_partition"),
        ({**STREAMS, "stream_size": 1000, "message": {"size": {"lines_of": "f"}}}, "one fixed size above 0"),
        ({**STREAMS, "stream_size": 1000, "message": {"size": 0}}, "one fixed size above 0"),
        ({**STREAMS, "stream_size": 63, "message": {"size": 64}}, "63 bytes hold no message of 64 bytes"),
        ({**STREAMS, "stream_size": 64, "messages": 9}, "exactly one of"),
        ({**STREAMS, "messages": 5}, "5 cannot be shared by 6 producers"),
        ({**STREAMS, "messages": 6, "warm_up_messages": 5}, "5 is below one for each producer"),
        ({**STREAMS, "messages": 6, "subscription": "group"}, "a group deals out partitions itself"),
        ({"messages": 6, "stream_warm_up_messages": 1}, "is for streams: per_partition"),
        ({"messages": 6, "transactions": {}, "acks": 1}, "transactions: need acks: all"),
        ({"messages": 6, "rate": "unlimited", "precedence": "real_time"}, "precedence: is for a schedule"),
        ({"messages": 6, "rate": 10, "precedence": "first"}, "'none', 'real_time' or 'own_core'"),
    ],
)
def test_streams_that_cannot_be(load: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        Load.model_validate(load)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (
            {"messages": 10, "rate": 5, "consumers": 0},
            "without a consumer there is no latency to come to rest",
        ),
        ({"rate": [{"rate": 5, "for": 9}]}, "a load in steps comes to rest anew in each of them"),
    ],
)
def test_where_no_rest_can_be_found_it_is_said_why(load: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Load.model_validate({**load, "warm_up_messages": "auto"})
    assert Load.model_validate({**load, "warm_up_messages": "none"}).total_warm_up_messages == 0


ORDERS = {"messages": 10, "rate": 5, "message": {"size": {"protobuf": "order"}}}


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({**ORDERS, "message": {"size": {"protobuf": "order"}, "keys": RANDOM_KEYS}}, "carry their header"),
        ({**ORDERS, "message": {"size": {"protobuf": "invoice"}}}, "order"),
        ({**ORDERS, "proof": True, "producers": 2}, "proof: is for one producer and one consumer"),
        ({**ORDERS, "engine": "jvm", "message": {"size": 78}}, "jvm sends protobuf orders"),
        ({**ORDERS, "engine": "jvm", "consumers": 0}, "jvm has one producer and one consumer"),
        ({**ORDERS, "engine": "jvm", "rate": "unlimited"}, "jvm needs one constant rate"),
        ({**ORDERS, "engine": "jvm", "subscription": "group"}, "jvm has no groups"),
        ({**ORDERS, "engine": "fortran"}, "'python' or 'jvm'"),
    ],
)
def test_orders_and_engines_have_their_limits(load: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Load.model_validate(load)
    assert Load.model_validate({**ORDERS, "engine": "jvm", "proof": True}).engine == "jvm"
