"""What the flags of a comparison say before anything is started."""

from __future__ import annotations

from typing import Any

from streamgauge.families.compare.command import compare


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
