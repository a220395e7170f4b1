from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from streamgauge.core.errors import BadInput
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.plan.cases import Case, as_work, load_case, load_with, topic_names
from streamgauge.spec.load import Load
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

LOAD = Load.model_validate({"messages": 100, "topics": {"name": "t", "partitions": 2}, "time_limit": "9s"})
TARGET = Target(name="a", driver="simulated")


class Other(SpecModel):
    """What a case of another family could be about."""


def case(**fields: Any) -> Case:
    given = {"id": "001", "kind": "e2e", "target": TARGET, "work": LOAD, "drain_timeout_s": 1.0, "tag": 1}
    return Case.model_validate({**given, "agents": (), **fields})


def test_a_case_of_a_load_takes_from_it_what_the_launcher_asks_for() -> None:
    made = load_case("e2e", TARGET, LOAD, "007", "run-1", parameters={"acks": "1"}, iteration=3)
    assert (made.id, made.kind, made.iteration, made.parameters) == ("007", "e2e", 3, {"acks": "1"})
    assert (made.topics, made.topic_settings) == (("t",), LOAD.topics)
    assert (made.time_limit_s, made.drain_timeout_s) == (9.0, 30.0)
    assert made.load is LOAD
    assert Case.model_validate(made.model_dump(mode="json", by_alias=True)) == made


def test_what_a_case_is_about_is_read_as_its_family_has_it() -> None:
    content = case().model_dump(mode="json", by_alias=True)
    assert isinstance(Case.model_validate(content).work, Load)
    with pytest.raises(ValidationError, match="work"):
        Case.model_validate({**content, "work": {"beats": 5}})


def test_who_takes_a_case_for_what_it_is_not_is_told() -> None:
    assert as_work(LOAD, Load) is LOAD
    with pytest.raises(TypeError, match="about a Other, not a Load"):
        _ = case(work=Other()).load


def test_an_agent_has_a_role_of_its_family() -> None:
    assert case(agents=(AgentTask(kind="producer", number=0),)).agents[0].agent == "producer-0"
    with pytest.raises(ValidationError, match="no role 'janitor'; allowed: producer, consumer"):
        case(agents=(AgentTask(kind="janitor", number=0),))


def test_all_targets_of_a_case_take_part() -> None:
    other = Target(name="b", driver="simulated")
    assert case(others=(other,)).targets == (TARGET, other)


def test_names_of_topics() -> None:
    assert topic_names(Topics(name="t"), "run", "001") == ("t",)
    assert topic_names(Topics(name="t", count=2, own_names=True), "run", "001") == (
        "t-run-001-0",
        "t-run-001-1",
    )


def test_fields_are_replaced_by_their_paths_and_a_fault_names_where_they_are_from() -> None:
    assert load_with(LOAD, {"topics.partitions": 8, "acks": 1}, "cases").topics.partitions == 8
    assert load_with(LOAD, {}, "cases") is LOAD
    with pytest.raises(BadInput, match=r"^cases\.mesages: there is no such field in `load`$"):
        load_with(LOAD, {"mesages": 1}, "cases")
    with pytest.raises(BadInput, match=r"^cases: load: acks: must be"):
        load_with(LOAD, {"acks": 7}, "cases")
