"""Faults of links: whose link is decided when it happens, what is wrong with it is what the workload says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.faults.contract import Ending, Scene
from streamgauge.spec.fault import FaultSpec, fault_class
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.links import Condition, Way

from .test_brokers import Cluster, scene


class Recorded:
    """Links that only say what was done to them."""

    names = ["broker-1", "broker-2", "broker-3"]

    def __init__(self) -> None:
        self.now: dict[int, tuple[list[str], Condition]] = {}
        self.was_reset: list[str] = []

    def disturb(self, names: Iterable[str], condition: Condition) -> int:
        self.now[len(self.now)] = (list(names), condition)
        return len(self.now) - 1

    def clear(self, number: int) -> None:
        del self.now[number]

    def reset(self, names: Iterable[str]) -> None:
        self.was_reset = list(names)


@pytest.fixture
def links() -> Recorded:
    return Recorded()


@pytest.fixture
def linked(links: Recorded) -> Scene:
    return replace(scene(Cluster()), links=cast("Any", links))


def fault(linked: Scene, kind: str, **fields: Any) -> Any:
    spec = FaultSpec.model_validate({"kind": kind, "at": 0, **fields})
    return fault_class(kind)(spec, linked)


@pytest.mark.parametrize(
    ("kind", "fields", "condition"),
    [
        ("link_delay", {"delay": "50ms", "jitter": "10ms"}, Condition(delay_s=0.05, jitter_s=0.01)),
        ("link_throttle", {"bytes_per_s": "1MB"}, Condition(bytes_per_s=1_000_000)),
        ("link_stall", {"chance": 0.5, "stall": "1s"}, Condition(stall_chance=0.5, stall_s=1.0)),
        ("link_cut", {}, Condition(is_cut=True)),
        ("link_reset", {"for": 1}, Condition(is_refusing=True)),
    ],
)
def test_what_is_wrong_is_what_the_workload_says_and_is_taken_back(
    links: Recorded, linked: Scene, kind: str, fields: dict[str, Any], condition: Condition
) -> None:
    found = fault(linked, kind, **fields)

    assert found.begin() == "all links"
    assert links.now == {0: (Recorded.names, condition)}
    found.end()

    assert links.now == {}
    assert fault_class(kind).equipment(found.spec) == Equipment(links=True)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("link_delay", {"jitter": "10ms"}), ("link_stall", {"chance": 0.5, "stall": "1s"})],
)
def test_what_is_drawn_is_the_same_for_the_same_fault(
    links: Recorded, linked: Scene, kind: str, fields: dict[str, Any]
) -> None:
    for given in (fields, fields, fields | {"broker": "broker-1"}):
        fault(linked, kind, **given).begin()

    drawn = [[condition.added_s() for _ in range(50)] for _, condition in links.now.values()]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_link_of_a_leader_is_the_one_that_leads_when_it_happens(links: Recorded, linked: Scene) -> None:
    found = fault(linked, "link_cut", broker="leader", direction="to_client")

    assert found.begin() == "link of broker-2 (to client)"
    assert links.now == {0: (["broker-2"], Condition(is_cut=True, ways=frozenset({Way.TO_CLIENTS})))}


def test_a_reset_without_time_is_over_at_once(links: Recorded, linked: Scene) -> None:
    found = fault(linked, "link_reset", broker="broker-3")

    assert found.begin() == "link of broker-3"
    found.end()

    assert links.was_reset == ["broker-3"]
    assert links.now == {}
    assert found.ending is Ending.AT_ONCE


def test_a_system_that_was_started_without_links_has_none_to_hit(linked: Scene) -> None:
    with pytest.raises(BadInput, match="links of ours"):
        fault(replace(linked, links=None), "link_cut").begin()
