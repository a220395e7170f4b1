from __future__ import annotations

from typing import Any

import pytest

from streamgauge.agents.diary import Manifest
from streamgauge.families.fanout.hold import hold_of
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import Fanout

POINT = FanoutPoint(
    scenario="1", clients=10, via="gateway", series="gateway", fanout=Fanout(clients=(10,), mean_limit=5.0)
)
GOOD = {
    "clients": 5,
    "gone": 0,
    "expected": 100,
    "received": 100,
    "missing": 0,
    "samples": 10,
    "latency_sum_us": 20_000,
}


def told(*counters: dict[str, int], **last: Any) -> list[Manifest]:
    manifests = [Manifest(f"swarm-{n}", "001", counters=counted) for n, counted in enumerate(counters)]
    return [Manifest("producer-0", "001"), *manifests[:-1], Manifest(**{**vars(manifests[-1]), **last})]


def test_holds_when_all_came_in_time() -> None:
    hold = hold_of(POINT, told(GOOD, GOOD))
    assert hold.holds
    assert hold.words == "mean 2.0 ms over 20 samples; 200 of 200 updates came"


def test_what_was_conflated_is_told_with_the_limit() -> None:
    limited = Fanout(clients=(10,), max_frequency=1.0)
    counters = {**GOOD, "expected": 299, "received": 132, "conflated": 167}
    hold = hold_of(POINT.model_copy(update={"fanout": limited}), told(counters))
    assert hold.holds
    assert hold.words.endswith("132 of 299 updates came, 167 conflated (at most 1/s an item)")


@pytest.mark.parametrize(
    ("counters", "last", "words"),
    [
        ({**GOOD, "missing": 1, "received": 99}, {}, "1 updates are missing"),
        ({**GOOD, "gone": 1}, {"reason": "1 connections ended: closed"}, "1 connections ended"),
        ({**GOOD, "latency_sum_us": 101_000_000}, {}, "mean 5,051 ms is above 5 s"),
        ({**GOOD}, {"outcome": "failed", "reason": "only 3 of 5 sessions could be opened"}, "only 3 of 5"),
    ],
)
def test_does_not_hold(counters: dict[str, int], last: dict[str, Any], words: str) -> None:
    hold = hold_of(POINT, told(GOOD, counters, **last))
    assert not hold.holds
    assert hold.words.startswith("does not hold: ")
    assert words in hold.words


def test_without_samples_nothing_is_known() -> None:
    assert not hold_of(POINT, told({**GOOD, "samples": 0, "latency_sum_us": 0})).holds
    assert not hold_of(POINT, [Manifest("producer-0", "001")]).holds
