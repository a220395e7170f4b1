"""A fault: what is done to a system while it is measured, and taken back.

It touches only what this run started: brokers by the handles of their processes, topics that the case made.
A new one is a class and an entry point of the group `streamgauge.faults`, whose name is its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from streamgauge.core.errors import BadInput
from streamgauge.core.fault_figures import FaultEffects
from streamgauge.drivers.contract import Driver
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.system import SystemSpec, system_class
from streamgauge.systems.disks import Disks
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.links import Links
from streamgauge.systems.members import Members, try_all


@dataclass(frozen=True)
class Scene:
    """What a fault finds."""

    case: Case
    driver: Driver
    members: Members | None
    """Of the system that this run started; None: it started none that can be taken apart."""
    links: Links | None = None
    """Between it and the agents, where a fault of the run needs them."""
    disks: Disks | None = None
    """Of its members, where a fault of the run needs them."""
    servers: Members | None = None
    """Of what the run started for this case alone, such as a gateway."""
    kill_agent: Callable[[str], None] | None = None
    """Ends an agent of the case, by its name, as if its machine were gone."""

    def own_members(self) -> Members:
        if self.members is None:
            raise BadInput("this run started no brokers of its own: faults are only done to what it started")
        return self.members

    def own_links(self) -> Links:
        if self.links is None:
            raise BadInput("this run started no system whose clients come through links of ours")
        return self.links

    def own_disks(self) -> Disks:
        if self.disks is None:
            raise BadInput("this run started no system whose members write through a library of ours")
        return self.disks

    def restore(self) -> None:
        """All as it was in the beginning, whatever faults left, and as much of it as can be."""
        # Disks before members: one that went down because of its disk could not start.
        parts = (self.disks, self.links, self.members, self.servers)
        try_all(part.restore for part in parts if part is not None)


class Ending(Enum):
    """When a fault without `for` is over."""

    AT_ONCE = auto()
    """Taken back as soon as it is done."""
    WITH_THE_CASE = auto()
    NEVER = auto()
    """Whom it hits stays away; such a fault has no `for`."""


class Fault(ABC):
    """One fault of one case; `end` is called only after a `begin` that did what it was to do."""

    spec_model: ClassVar[type[FaultSpec]]
    words: ClassVar[str]
    """What it does, in a line."""
    needs: ClassVar[str]
    """What there has to be, in a line."""
    needs_members: ClassVar[bool] = True
    ending: ClassVar[Ending] = Ending.WITH_THE_CASE
    look_s: ClassVar[float | None] = None
    """How often `look` is called while it lasts; None: there is nothing to see."""

    counts_from_ns: int | None = None
    """Set by a `begin` that has to prepare what it does: when that was over; None: it did not."""

    def __init__(self, spec: FaultSpec, scene: Scene) -> None:
        self.spec, self.scene = spec, scene

    @classmethod
    def equipment(cls, spec: FaultSpec) -> Equipment:
        """What the system has to be started with."""
        return Equipment()

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        """What can be known to be wrong before anything starts."""
        if cls.ending is Ending.NEVER and spec.for_ is not None:
            return f"load.faults: {spec.kind}: whom it hits stays away until the case ends; leave out `for`"
        needs_links = cls.equipment(spec).links
        if not (cls.needs_members or needs_links):
            return None
        target, system = case.target.name, case.target.system
        if system is None:
            return (
                f"load.faults: {spec.kind} is done to what the run itself started, and target {target} "
                "names a system that runs already; give it `system:` instead"
            )
        return cls._why_not_of(system, spec, target)

    @classmethod
    def _why_not_of(cls, system: SystemSpec, spec: FaultSpec, target: str) -> str | None:
        needs_links = cls.equipment(spec).links
        found = system_class(system.kind)
        if cls.needs_members and not getattr(found, "has_members", False):
            return f"load.faults: {spec.kind}: system {system.kind} of target {target} has no brokers to hit"
        if needs_links and not getattr(found, "has_links", False):
            return f"load.faults: {spec.kind}: clients of system {system.kind} come to it without links"
        if needs_links and getattr(system, "security", False):
            # What agents come to through a proxy would be a way in without a lock.
            return f"load.faults: {spec.kind}: a cluster with locks has no links; leave out system.security"
        return None

    @abstractmethod
    def begin(self) -> str:
        """Do it; says whom it hit. A StreamgaugeError says why not."""

    def look(self) -> None:  # noqa: B027 - most have nothing to see
        """While it lasts, every `look_s`."""

    def end(self) -> None:  # noqa: B027 - some leave nothing to take back
        """Take it back, and wait until that is done; never asked of one that is never over."""

    def effects(self) -> FaultEffects | None:
        """What it did, beyond what clients saw; None: nothing more is known."""
        return None
