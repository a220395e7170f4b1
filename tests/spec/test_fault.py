"""Faults of a workload: known kinds, in time, and refused where they cannot be done."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from streamgauge.core.errors import BadInput
from streamgauge.faults.contract import Fault
from streamgauge.launch.feasibility import equipment_for, faults_of, impossible_cases
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.fault import fault_class, fault_kinds
from streamgauge.spec.load import Load
from streamgauge.spec.loading import dump_yaml, parse
from streamgauge.spec.workload import Workload
from streamgauge.systems.equipment import Equipment

KILL = {"kind": "broker_kill", "at": "2s", "for": "3s"}


def workload(*faults: dict[str, Any], system: dict[str, Any] | None, **topics: Any) -> Workload:
    target: dict[str, Any] = {"name": "kafka", "driver": "kafka_confluent"}
    target |= {"settings": {"bootstrap": "127.0.0.1:1"}} if system is None else {"system": system}
    load = {"duration": "10s", "rate": "1k/s", "faults": list(faults), "topics": topics}
    return parse(Workload, {"kind": "e2e", "targets": [target], "load": load}, "test")


def refused(*faults: dict[str, Any], system: dict[str, Any] | None, **topics: Any) -> str:
    cases = make_plan(workload(*faults, system=system, **topics), "run").cases
    with pytest.raises(BadInput) as told:
        impossible_cases(cases, lambda case: None)
    return str(told.value)


def test_every_fault_says_what_it_does_and_what_it_needs() -> None:
    for kind in fault_kinds():
        found = fault_class(kind)
        assert issubclass(found, Fault)
        assert found.words
        assert found.needs
        assert found.spec_model.model_fields["kind"].default == kind


def test_a_fault_goes_through_plan_and_workload_file() -> None:
    given = workload(KILL, system={"brokers": 3})

    [case] = make_plan(given, "run").cases
    again = Case.model_validate(case.model_dump(mode="json", by_alias=True))

    [fault] = faults_of(again)
    assert (fault.kind, fault.at, fault.for_) == ("broker_kill", 2.0, 3.0)
    assert "for: 3.0" in dump_yaml(given)
    assert impossible_cases([case], lambda case: None) == {}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"kind": "meteor", "at": 1}, "there is no fault 'meteor'; allowed: broker_kill"),
        ({"at": 1}, "say which fault; allowed: broker_kill"),
        ({**KILL, "at": "11s"}, "at 11 s the load is over, which lasts 10 s"),
        ({**KILL, "whom": "me"}, "whom"),
        ({**KILL, "broker": "the big one"}, "broker"),
    ],
)
def test_what_is_wrong_with_a_fault_is_said_of_the_file(fault: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Load.model_validate({"duration": "10s", "rate": "1k/s", "faults": [fault]})


def test_a_cluster_of_somebody_else_is_left_alone() -> None:
    assert "names a system that runs already" in refused(KILL, system=None)


def test_what_is_not_there_cannot_be_hit() -> None:
    three = {"brokers": 3}
    assert "there is no broker-4" in refused({**KILL, "broker": "broker-4"}, system=three)
    assert "no such partition of 2" in refused({**KILL, "partition": 2}, system=three, partitions=2)


def test_a_system_without_brokers_or_links_has_none_to_hit() -> None:
    redis = {"kind": "redis_server"}
    assert "system redis_server of target kafka has no brokers" in refused(KILL, system=redis)
    assert "without links" in refused({"kind": "link_cut", "at": 1}, system=redis)
    locked = {"security": ["scram"]}
    assert "leave out system.security" in refused({"kind": "link_cut", "at": 1}, system=locked)


def test_one_controller_is_not_taken_from_a_cluster_that_cannot_elect_another() -> None:
    loss = {"kind": "controller_loss", "at": 1}
    assert "needs system.brokers: 3" in refused(loss, system={"brokers": 1})
    assert "names a system that runs already" in refused(loss, system=None)


def test_links_are_asked_for_only_where_a_fault_needs_them() -> None:
    def wanted(*faults: dict[str, Any]) -> Equipment | None:
        return equipment_for(make_plan(workload(*faults, system={"brokers": 3}), "run").cases)

    cut = {"kind": "link_cut", "at": 1, "broker": "broker-3"}
    assert wanted() is None
    assert wanted(KILL) == Equipment(links=False)
    assert wanted(KILL, cut) == Equipment(links=True)
    assert "there is no broker-4" in refused({**cut, "broker": "broker-4"}, system={"brokers": 3})


def test_an_unclean_election_needs_a_topic_that_allows_it() -> None:
    unclean = {"kind": "unclean_election", "at": 1}
    allowed = {"unclean.leader.election.enable": "true"}
    assert "unclean.leader.election.enable" in refused(unclean, system={"brokers": 3}, replicas=2)
    assert "replicas: 2" in refused(unclean, system={"brokers": 3}, replicas=3, config=allowed)
    cases = make_plan(workload(unclean, system={"brokers": 3}, replicas=2, config=allowed), "run").cases
    assert impossible_cases(cases, lambda case: None) == {}


def test_only_topics_of_the_cases_own_are_deleted() -> None:
    assert "topics.name" in refused({"kind": "topic_delete", "at": 1}, system={}, name="theirs")
