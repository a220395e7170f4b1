from __future__ import annotations

from typing import Any

import pytest

from streamgauge.spec.topics import Topics


@pytest.mark.parametrize(
    ("given", "are_own"),
    [
        ({}, True),
        ({"partitions": 4, "keep": True}, True),
        ({"name": "orders"}, False),
        ({"name": "orders", "own_names": True}, True),
        ({"own_names": False}, False),
    ],
)
def test_only_a_name_that_was_given_is_taken_as_it_is(given: dict[str, Any], are_own: bool) -> None:
    topics = Topics.model_validate(given)
    assert topics.own_names is are_own
    # Also when it is read from a plan, which has every field.
    assert Topics.model_validate(topics.model_dump(mode="json")) == topics
