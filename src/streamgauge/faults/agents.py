"""Faults of agents: a producer or a member of a consumer group is killed, and stays away until the case ends.

What it had recorded is in files that outlive it (recording/kept), so that whatever it had sent, heard of and
received up to then is accounted for.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from streamgauge.core.errors import BadInput
from streamgauge.drivers.registry import driver_class
from streamgauge.faults.contract import Ending, Fault
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec


class _AgentSpec(FaultSpec):
    number: int = Field(default=0, ge=0)
    """Which of its kind, from 0."""

    @property
    def killed_agent(self) -> str:
        return f"{self.kind.removesuffix('_kill')}-{self.number}"


class ProducerKillSpec(_AgentSpec):
    kind: Literal["producer_kill"] = "producer_kill"


class ConsumerKillSpec(_AgentSpec):
    kind: Literal["consumer_kill"] = "consumer_kill"


class _OfAnAgent(Fault):
    needs_members = False
    ending = Ending.NEVER

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if (why := super().why_impossible(spec, case)) is not None:
            return why
        assert isinstance(spec, _AgentSpec)
        agents = [task.agent for task in case.agents]
        if spec.killed_agent not in agents:
            return f"load.faults: {spec.kind}: there is no {spec.killed_agent}; there are {', '.join(agents)}"
        if case.load.engine == "jvm" or driver_class(case.target).capabilities.simulated_time:
            return f"load.faults: {spec.kind}: agents that keep time by themselves cannot be killed"
        return None

    def begin(self) -> str:
        spec = self.spec
        assert isinstance(spec, _AgentSpec)
        if self.scene.kill_agent is None:
            raise BadInput("this run has no agents of its own to kill")
        self.scene.kill_agent(spec.killed_agent)
        return spec.killed_agent


class ProducerKill(_OfAnAgent):
    spec_model = ProducerKillSpec
    words = "kill -9 of a producer's process: what it had not handed over, or heard of, is named"
    needs = "a load without transactions"

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if (why := super().why_impossible(spec, case)) is not None:
            return why
        if case.load.transactions is not None:
            return (
                f"load.faults: {spec.kind}: with transactions nobody else knows which of its last ones were "
                "committed; leave out load.transactions"
            )
        return None


class ConsumerKill(_OfAnAgent):
    """Nobody else is told: the group finds out when the session of the member has timed out."""

    spec_model = ConsumerKillSpec
    words = "kill -9 of a member of the consumer group: the others take over what it read"
    needs = "subscription: group, at least 2 consumers, and a driver whose groups commit"

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if (why := super().why_impossible(spec, case)) is not None:
            return why
        if case.load.subscription != "group" or case.load.consumer_count < 2:
            return (
                "load.faults: consumer_kill: nobody else would read what it read; needs load.subscription: "
                "group and load.consumers: 2 or more"
            )
        if not driver_class(case.target).capabilities.commits:
            return (
                f"load.faults: consumer_kill: groups of driver {case.target.driver} do not commit what they "
                "have read"
            )
        return None
