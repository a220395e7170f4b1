"""A fault: what is done to a system while it is measured, and taken back.

It touches only what this run started: brokers by the handles of their processes, topics that the case made.
A new one is a class and an entry point of the group `streamgauge.faults`, whose name is its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import Driver
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec
from streamgauge.systems.members import Members


@dataclass(frozen=True)
class Scene:
    """What a fault finds."""

    case: Case
    driver: Driver
    members: Members | None
    """Of the system that this run started; None: it started none that can be taken apart."""

    def own_members(self) -> Members:
        if self.members is None:
            raise BadInput("this run started no brokers of its own: faults are only done to what it started")
        return self.members


class Fault(ABC):
    """One fault of one case; `end` is called only after a `begin` that did what it was to do."""

    spec_model: ClassVar[type[FaultSpec]]
    words: ClassVar[str]
    """What it does, in a line."""
    needs: ClassVar[str]
    """What there has to be, in a line."""
    needs_members: ClassVar[bool] = True

    def __init__(self, spec: FaultSpec, scene: Scene) -> None:
        self.spec, self.scene = spec, scene

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        """What can be known to be wrong before anything starts."""
        if cls.needs_members and case.target.system is None:
            return (
                f"load.faults: {spec.kind} is done to processes that the run itself started, and target "
                f"{case.target.name} names a system that runs already; give it `system:` instead"
            )
        return None

    @abstractmethod
    def begin(self) -> str:
        """Do it; says whom it hit. A StreamgaugeError says why not."""

    def end(self) -> None:  # noqa: B027 - some leave nothing to take back
        """Take it back, and wait until that is done."""
