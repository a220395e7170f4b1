"""Flags of `sweep` as the workload that they make."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.families.sweep.command import sweep
from streamgauge.families.sweep.workload import SweepWorkload


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
