from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.spec.workload import MESSAGE_HEADER_BYTES, Load, Message

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
        load.messages = 2  # type: ignore[misc]
