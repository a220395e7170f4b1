from __future__ import annotations

from typing import Any

import pytest

from streamgauge.spec.load import Load
from streamgauge.spec.settling import SettlingTerms, SettlingWork
from streamgauge.spec.topics import Topics


def load(**fields: Any) -> Load:
    fields = {"messages": 4000, "rate": "1k/s", "warm_up_messages": "auto", "warm_up_limit": "10s"} | fields
    return Load.model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "measured_s"),
    [
        ({}, 4.0),
        ({"messages": None, "duration": "2s"}, 2.0),
    ],
)
def test_how_long_a_load_is_measured(fields: dict[str, Any], measured_s: float | None) -> None:
    assert load(**fields).settling == SettlingTerms(10.0, measured_s)


@pytest.mark.parametrize(
    ("size", "most"),
    [
        (1000, 1000),
        (0, 1_000_000),
        ({"distribution": "uniform", "min": 100, "max": 300}, 5000),
        ({"distribution": "normal", "min": 10, "max": 900, "mean": 500, "sd": 5}, 2000),
        ({"lines_of": "somewhere.txt"}, 12_820),
    ],
)
def test_what_goes_as_fast_as_it_can_rests_by_its_rate_and_fills_no_disk(size: Any, most: int) -> None:
    made = load(rate="unlimited", message={"size": size}, most_warm_up_bytes="1MB", consumers=0)
    assert made.settling == SettlingTerms(10.0, None, by_rate=True, most_messages=most)
    timed = load(rate="unlimited", messages=None, duration="3s").settling
    assert timed is not None
    assert timed.measured_s == 3.0


@pytest.mark.parametrize("ahead", [0, 100, "none"])
def test_a_warm_up_whose_length_is_said_beforehand_has_no_terms(ahead: Any) -> None:
    assert load(warm_up_messages=ahead).settling is None


def test_who_has_no_warm_up_has_nothing_to_say_of_it() -> None:
    assert isinstance(load(), SettlingWork)
    assert not isinstance(Topics(), SettlingWork)
