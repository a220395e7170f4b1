"""Agents are killed by name, and only where what they did can still be accounted for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.launch.feasibility import impossible_cases
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.fault import FaultSpec, fault_class
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

from .test_brokers import Cluster, scene

CONSUMER = {"kind": "consumer_kill", "at": 1, "number": 1}
PRODUCER = {"kind": "producer_kill", "at": 1}
GROUP: dict[str, Any] = {"subscription": "group", "consumers": 2, "topics": {"partitions": 4}}


def why_not(fault: dict[str, Any], driver: str = "kafka_confluent", **load: Any) -> str | None:
    workload = {
        "kind": "e2e",
        "targets": [{"name": "kafka", "driver": driver, "system": {}}],
        "load": {"duration": "10s", "rate": "1k/s", "faults": [fault], **load},
    }
    cases = make_plan(parse(Workload, workload, "test"), "run").cases
    try:
        assert impossible_cases(cases, lambda case: None) == {}
    except BadInput as error:
        return str(error)
    return None


def test_a_member_of_a_group_that_others_can_stand_in_for_is_killed() -> None:
    assert why_not(CONSUMER, **GROUP) is None
    assert why_not(PRODUCER, producers=2) is None
    assert why_not(CONSUMER, **GROUP, transactions={}) is None, "what it read is committed or is not"


@pytest.mark.parametrize(
    ("fault", "load", "words"),
    [
        ({**CONSUMER, "number": 2}, GROUP, "there is no consumer-2; there are producer-0, consumer-0"),
        (CONSUMER, {**GROUP, "subscription": "assigned"}, "nobody else would read what it read"),
        ({**CONSUMER, "number": 0}, {**GROUP, "consumers": 1}, "nobody else would read what it read"),
        ({**CONSUMER, "for": 5}, GROUP, "stays away until the case ends; leave out `for`"),
        (PRODUCER, {"transactions": {}}, "leave out load.transactions"),
    ],
)
def test_where_it_cannot_be_done_that_is_said_first(
    fault: dict[str, Any], load: dict[str, Any], words: str
) -> None:
    assert words in (why_not(fault, **load) or "")


def test_groups_that_do_not_commit_cannot_take_over() -> None:
    assert "do not commit" in (why_not(CONSUMER, driver="kafka_python", **GROUP) or "")


def test_it_is_killed_by_its_name_and_of_a_run_with_agents_only() -> None:
    killed: list[str] = []
    spec = FaultSpec.model_validate(PRODUCER | {"number": 3})
    assert spec.killed_agent == "producer-3"
    there = replace(scene(Cluster()), kill_agent=killed.append)

    assert fault_class("producer_kill")(spec, there).begin() == "producer-3"

    assert killed == ["producer-3"]
    with pytest.raises(BadInput, match="no agents"):
        fault_class("producer_kill")(spec, replace(there, kill_agent=None)).begin()
