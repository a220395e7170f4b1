"""What the flags of a comparison say before anything is started."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.families.compare.command import compare


@pytest.mark.parametrize(("repeat", "is_said"), [(8, True), (12, False)])
def test_too_few_repetitions_are_said_before_the_start_with_the_number_that_could(
    repeat: int, is_said: bool
) -> None:
    asked = compare(a="kafka_java", b="kafka_confluent", repeat=repeat, bootstrap="127.0.0.1:9092")
    assert bool(asked.notes) is is_said
    if is_said:
        assert "8 repetitions cannot show a difference in 80 comparisons" in asked.notes[0]
        assert "--repeat 12 could, or --until-decided" in asked.notes[0]


def test_what_goes_on_until_it_is_decided_is_not_in_vain() -> None:
    wanted: dict[str, Any] = {
        "a": "kafka_java",
        "b": "kafka_confluent",
        "repeat": 8,
        "bootstrap": "127.0.0.1:9092",
    }
    assert compare(**wanted, until_decided=True, time_limit="10m").notes == ()
    [said] = compare(**wanted, until_decided=True).notes
    assert "for 12 hours at most; --time-limit" in said
