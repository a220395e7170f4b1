"""Faults of the way between agents and brokers: slow, narrow, stalling, reset, cut.

The launcher and the brokers among themselves do not use these links: what is hit is what clients see.
"""

from __future__ import annotations

from abc import abstractmethod
from random import Random
from typing import Annotated, Literal

from pydantic import Field

from streamgauge.faults.brokers import CONTROLLER, LEADER, chosen, why_no_broker
from streamgauge.faults.contract import Ending, Fault
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.model import Bytes, Seconds
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.links import Condition, Way

ALL, BOTH = "all", "both"
_NEEDS = "a Kafka cluster that the run starts (system: {}); no root"


class LinkSpec(FaultSpec):
    broker: str = Field(default=ALL, pattern=rf"^({ALL}|{LEADER}|{CONTROLLER}|broker-[1-9][0-9]*)$")
    """Whose link: those of all brokers, of the leader of a partition, of the controller, of one by name."""
    partition: int = Field(default=0, ge=0)
    """Of the first topic; whose leader."""
    direction: Literal["both", "to_broker", "to_client"] = "both"

    @property
    def ways(self) -> frozenset[Way]:
        return frozenset(Way) if self.direction == BOTH else frozenset({Way(self.direction)})

    @property
    def random(self) -> Random:
        """The same for the same fault of a workload, which is what a seed of `chaos` makes."""
        return Random(self.model_dump_json())


class LinkDelaySpec(LinkSpec):
    kind: Literal["link_delay"] = "link_delay"
    delay: Annotated[Seconds, Field(gt=0)] = 0.1
    """In each direction that it is in force for."""
    jitter: Annotated[Seconds, Field(ge=0)] = 0.0
    """Up to so much more, anew for every piece; nothing overtakes."""


class LinkThrottleSpec(LinkSpec):
    kind: Literal["link_throttle"] = "link_throttle"
    bytes_per_s: Annotated[Bytes, Field(gt=0)] = 100_000
    """Of all connections of a link together, in each direction."""


class LinkStallSpec(LinkSpec):
    kind: Literal["link_stall"] = "link_stall"
    chance: float = Field(default=0.01, gt=0, le=1)
    """Of every piece of at most 64 KiB."""
    stall: Annotated[Seconds, Field(gt=0)] = 0.2
    """How long it takes, and with it all behind it: the least time after which TCP sends again."""


class LinkResetSpec(LinkSpec):
    kind: Literal["link_reset"] = "link_reset"
    direction: Literal["both"] = "both"


class LinkCutSpec(LinkSpec):
    kind: Literal["link_cut"] = "link_cut"


class _OfALink(Fault):
    needs = _NEEDS
    needs_members = False
    _number: int | None = None

    @classmethod
    def equipment(cls, spec: FaultSpec) -> Equipment:
        return Equipment(links=True)

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        return super().why_impossible(spec, case) or why_no_broker(spec, case)

    @abstractmethod
    def _condition(self) -> Condition:
        """What is wrong with the link meanwhile."""

    def begin(self) -> str:
        links, names = self.scene.own_links(), self._names()
        self._number = links.disturb(names, self._condition())
        return self._target(names)

    def end(self) -> None:
        if self._number is not None:
            self.scene.own_links().clear(self._number)
            self._number = None

    def _names(self) -> list[str]:
        """Decided when it happens: who leads then."""
        spec = self.spec
        assert isinstance(spec, LinkSpec)
        if spec.broker == ALL:
            return self.scene.own_links().names
        return [chosen(self.scene, spec.broker, spec.partition)]

    def _target(self, names: list[str]) -> str:
        spec = self.spec
        assert isinstance(spec, LinkSpec)
        direction = "" if spec.direction == BOTH else f" ({spec.direction.replace('_', ' ')})"
        whom = "all links" if spec.broker == ALL else f"link of {names[0]}"
        return whom + direction


class LinkDelay(_OfALink):
    spec_model = LinkDelaySpec
    words = "a slow link: everything between clients and broker takes `delay` longer each way"

    def _condition(self) -> Condition:
        assert isinstance(self.spec, LinkDelaySpec)
        spec = self.spec
        return Condition(delay_s=spec.delay, jitter_s=spec.jitter, ways=spec.ways, random=spec.random)


class LinkThrottle(_OfALink):
    spec_model = LinkThrottleSpec
    words = "a narrow link: no more than `bytes_per_s` get through"

    def _condition(self) -> Condition:
        assert isinstance(self.spec, LinkThrottleSpec)
        return Condition(bytes_per_s=self.spec.bytes_per_s, ways=self.spec.ways)


class LinkStall(_OfALink):
    spec_model = LinkStallSpec
    words = (
        "a lossy link as TCP shows it: now and then all stands still for `stall`, as for a packet sent again"
    )

    def _condition(self) -> Condition:
        assert isinstance(self.spec, LinkStallSpec)
        spec = self.spec
        return Condition(stall_chance=spec.chance, stall_s=spec.stall, ways=spec.ways, random=spec.random)


class LinkCut(_OfALink):
    spec_model = LinkCutSpec
    words = "a cut link: nothing passes and nobody is told; what was under way comes after `for`"

    def _condition(self) -> Condition:
        assert isinstance(self.spec, LinkCutSpec)
        return Condition(is_cut=True, ways=self.spec.ways)


class LinkReset(_OfALink):
    """Who comes while it lasts is sent away, too; without `for` all may come back at once."""

    spec_model = LinkResetSpec
    words = "every connection is reset, and until `for` is over so is every new one"
    ending = Ending.AT_ONCE

    def _condition(self) -> Condition:
        return Condition(is_refusing=True)

    def begin(self) -> str:
        names = self._names()
        if self.spec.for_ is not None:
            self._number = self.scene.own_links().disturb(names, self._condition())
        self.scene.own_links().reset(names)
        return self._target(names)
