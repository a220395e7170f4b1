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
        ({"rate": "unlimited"}, None),
    ],
)
def test_how_long_a_load_is_measured(fields: dict[str, Any], measured_s: float | None) -> None:
    assert load(**fields).settling == SettlingTerms(10.0, measured_s)


@pytest.mark.parametrize("ahead", [0, 100, "none"])
def test_a_warm_up_whose_length_is_said_beforehand_has_no_terms(ahead: Any) -> None:
    assert load(warm_up_messages=ahead).settling is None


def test_who_has_no_warm_up_has_nothing_to_say_of_it() -> None:
    assert isinstance(load(), SettlingWork)
    assert not isinstance(Topics(), SettlingWork)
