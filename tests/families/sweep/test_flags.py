"""Flags of `sweep` as the workload that they make."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.sweep.command import sweep
from streamgauge.families.sweep.workload import SweepWorkload
from streamgauge.plan.plan_file import make_plan


@pytest.mark.parametrize(
    ("flags", "messages", "of_each_stream"),
    [
        ({}, "auto", 0),
        ({"rate": "1k/s"}, "auto", 0),
        ({"rate": "1k/s", "warm_up": "none"}, 0, 0),
        ({"rate": "1k/s", "warm_up": "5"}, 0, 5),
        ({"rate": "1k/s,unlimited"}, "auto", 0),
        ({"warm_up": "1"}, 0, 1),
    ],
)
def test_a_case_warms_up_until_it_is_at_rest_unless_told_otherwise(
    flags: dict[str, Any], messages: int | str, of_each_stream: int
) -> None:
    made = sweep(**flags, bootstrap="127.0.0.1:9092", warm_up_limit="7s")
    assert isinstance(made, SweepWorkload)
    assert made.load.warm_up_messages == messages
    assert made.load.stream_warm_up_messages == of_each_stream
    assert made.load.warm_up_limit == (7.0 if messages == "auto" else 60.0)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({}, {"stream_size": 1 << 20}),
        ({"stream_size": "64KiB"}, {"stream_size": 1 << 16}),
        ({"messages": "10k"}, {"messages": 10_000}),
        ({"duration": "30s", "rate": "1k/s"}, {"duration": 30.0}),
    ],
)
def test_how_much_is_said_in_one_of_three_ways(flags: dict[str, Any], said: dict[str, Any]) -> None:
    made = sweep(**flags, bootstrap="127.0.0.1:9092", producers=1)
    assert isinstance(made, SweepWorkload)
    known = {name: getattr(made.load, name) for name in ("stream_size", "messages", "duration")}
    assert {name: value for name, value in known.items() if value is not None} == said
    assert make_plan(made, "run").cases


def test_how_much_is_not_said_twice() -> None:
    with pytest.raises(BadInput, match="--stream-size and --duration"):
        sweep(stream_size="1MiB", duration="5s", bootstrap="127.0.0.1:9092")
