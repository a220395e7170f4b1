"""The fault of a topic that is deleted while it is used."""

from __future__ import annotations

from typing import Any, cast

from streamgauge.faults.contract import Scene
from streamgauge.faults.topics import TopicDelete, TopicDeleteSpec
from streamgauge.plan.cases import load_case
from streamgauge.spec.load import Load
from streamgauge.spec.target import Target


class Topics:
    def __init__(self) -> None:
        self.removed: list[str] = []

    def remove_topics(self, names: list[str]) -> None:
        self.removed += names


def test_it_is_not_made_again_so_it_cannot_last() -> None:
    load = Load.model_validate({"messages": 10})
    case = load_case("e2e", Target(name="t", driver="simulated"), load, "001", "run", parameters={})
    lasts = TopicDeleteSpec.model_validate({"at": 0, "for": 2})
    assert TopicDelete.why_impossible(TopicDeleteSpec(at=0), case) is None
    assert "leave out `for`" in str(TopicDelete.why_impossible(lasts, case))


def test_the_first_topic_of_the_case_is_deleted_and_no_other() -> None:
    load = Load.model_validate({"messages": 10, "topics": {"count": 2}})
    case = load_case("e2e", Target(name="t", driver="simulated"), load, "001", "run", parameters={})
    driver = Topics()

    hit = TopicDelete(TopicDeleteSpec(at=0), Scene(case, cast("Any", driver), None)).begin()

    assert driver.removed == [hit] == [case.topics[0]]
