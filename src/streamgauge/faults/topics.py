"""Faults of topics."""

from __future__ import annotations

from typing import Literal

from streamgauge.faults.contract import Ending, Fault
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec


class TopicDeleteSpec(FaultSpec):
    kind: Literal["topic_delete"] = "topic_delete"


class TopicDelete(Fault):
    """It is not made again: what is left is what clients do without it."""

    spec_model = TopicDeleteSpec
    words = "the first topic of the case is deleted while it is used"
    needs = "a topic that the case made itself (topics without a name of your own)"
    needs_members = False
    ending = Ending.NEVER

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if not case.topic_settings.own_names:
            return (
                "load.faults: topic_delete: only topics of the case's own are deleted; leave out topics.name"
            )
        return super().why_impossible(spec, case)

    def begin(self) -> str:
        name = self.scene.case.topics[0]
        self.scene.driver.remove_topics([name])
        return name
