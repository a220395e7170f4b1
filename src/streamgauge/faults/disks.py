"""Faults of a broker's disk: full, so that it refuses what is written, or slow.

What a broker does about it is its own affair: Kafka takes a folder out of use that it cannot write to, and
goes down when it has no other. So it is started again when there is room.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import Field

from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.fault_figures import FaultEffects
from streamgauge.faults.brokers import BrokerSpec, OfABroker
from streamgauge.plan.cases import Case
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.model import Seconds
from streamgauge.spec.system import system_class
from streamgauge.systems.disks import DiskFault, DiskHits, why_no_disks
from streamgauge.systems.equipment import Equipment

_LOOK_S = 0.1
_LAST_WRITES_S = 5.0
"""A broker whose disk was full until just now may still be on its way down."""
_NEEDS = "a Kafka cluster that the run starts (system: {}), Linux and a C compiler; no root"


class DiskFullSpec(BrokerSpec):
    kind: Literal["disk_full"] = "disk_full"


class DiskSlowSpec(BrokerSpec):
    kind: Literal["disk_slow"] = "disk_slow"
    delay: Annotated[Seconds, Field(gt=0)] = 0.05
    """Of each operation, beside what it takes anyway."""
    operations: Literal["all", "writes", "syncs"] = "all"
    """Writes wait as they do when the system has no more room for what is not on the disk yet; syncs are what
    a broker itself waits for: of its metadata always, of messages as log.flush.* says."""


class _OfADisk(OfABroker):
    needs = _NEEDS
    look_s = _LOOK_S
    _number: int | None = None
    _before = DiskHits(0, 0)
    _began_ns = 0
    _down_ns: int | None = None

    @classmethod
    def equipment(cls, spec: FaultSpec) -> Equipment:
        return Equipment(disks=True)

    @classmethod
    def why_impossible(cls, spec: FaultSpec, case: Case) -> str | None:
        if (why := super().why_impossible(spec, case)) is not None:
            return why
        assert case.target.system is not None
        system = case.target.system.kind
        if not getattr(system_class(system), "has_disks", False):
            return f"load.faults: {spec.kind}: nobody is between system {system} and its disks"
        missing = why_no_disks()
        return None if missing is None else f"load.faults: {spec.kind}: {missing}"

    @abstractmethod
    def _fault(self) -> DiskFault:
        """What is wrong with the disk meanwhile."""

    def begin(self) -> str:
        name, disks = self._choose(), self.scene.own_disks()
        self.scene.own_members().endanger(name)
        self._before, self._began_ns = disks.hits(name), now_ns()
        self._number = disks.disturb(name, self._fault())
        return f"disk of {name}"

    def look(self) -> None:
        if self._down_ns is None and self._name and self.scene.own_members().has_ended(self._name):
            self._down_ns = now_ns()

    def end(self) -> None:
        if self._number is None or self._name is None:
            return
        self.scene.own_disks().clear(self._number)
        self._number = None
        until_s = time.monotonic() + (_LAST_WRITES_S if self._hits().refused_count else 0.0)
        self.look()
        while self._down_ns is None and time.monotonic() < until_s:
            time.sleep(_LOOK_S)
            self.look()
        self.scene.own_members().rescue(self._name)

    def _hits(self) -> DiskHits:
        """Since it began."""
        assert self._name is not None
        now = self.scene.own_disks().hits(self._name)
        return DiskHits(
            now.refused_count - self._before.refused_count, now.delayed_count - self._before.delayed_count
        )

    @property
    def _down_after_s(self) -> float | None:
        return None if self._down_ns is None else (self._down_ns - self._began_ns) / NS_PER_S


class DiskFull(_OfADisk):
    spec_model = DiskFullSpec
    words = (
        "a broker's disk is full: nothing can be written, and a broker with no other disk goes down; after "
        "`for` there is room, and it is started again"
    )

    def _fault(self) -> DiskFault:
        return DiskFault(is_full=True)

    def effects(self) -> FaultEffects:
        return FaultEffects(refused_count=self._hits().refused_count, down_after_s=self._down_after_s)


class DiskSlow(_OfADisk):
    spec_model = DiskSlowSpec
    words = "a broker's disk is slow: each write, and each wait until it is on the disk, takes `delay` longer"

    def _fault(self) -> DiskFault:
        spec = self.spec
        assert isinstance(spec, DiskSlowSpec)
        return DiskFault(
            write_delay_s=0.0 if spec.operations == "syncs" else spec.delay,
            sync_delay_s=0.0 if spec.operations == "writes" else spec.delay,
        )

    def effects(self) -> FaultEffects:
        return FaultEffects(delayed_count=self._hits().delayed_count, down_after_s=self._down_after_s)
