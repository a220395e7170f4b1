"""What the agents of a fan-out have in common: they meet, are sampled, and write down what they have."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary, Manifest, write_manifest
from streamgauge.agents.live import Live
from streamgauge.agents.rendezvous import Rendezvous, Start
from streamgauge.agents.sampler import Sampler
from streamgauge.agents.warming_up import NewLatencies, WarmingUp
from streamgauge.core.clock import ClockReading, read_clocks
from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.drivers.contract import Driver
from streamgauge.drivers.registry import open_driver
from streamgauge.drivers.swarm import SwarmDriver, why_no_swarms
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.schedule import Schedule
from streamgauge.plan.cases import tag_of
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.secrets import fill_in
from streamgauge.tables.events import SAMPLES


class FanoutLife(ABC):
    def __init__(self, assignment: Assignment) -> None:
        task = assignment.task
        self.assignment, self.point = assignment, assignment.work_as(FanoutPoint)
        self.seed = tag_of(assignment.run_dir.id, assignment.kind)
        """One for all cases of a run: their messages and their clients' keys are the same, so that what
        differs between two of them is the way, and not the draw."""
        self.files = EventFiles(assignment.run_dir, assignment.case, task.agent)
        self.live = Live(assignment)
        self._diary = Diary(assignment, self.files)
        self._sampler = Sampler({task.agent: (task.kind, os.getpid())}, False, self.publish)
        self._driver: Driver | None = None
        self.reference_offset_ns = 0
        """To be added to this host's times before they are written."""
        self.manifest = Manifest(task.agent, assignment.case)

    @abstractmethod
    def run(self, rendezvous: Rendezvous) -> None: ...

    @abstractmethod
    def keep(self) -> None:
        """Write what was recorded."""

    @abstractmethod
    def let_go(self) -> None:
        """Close connections; this must not wait for long."""

    def publish(self) -> None:
        self.live.publish()

    def open_driver(self, more: Mapping[str, str] | None = None) -> SwarmDriver:
        """`more`: endpoints beside those that were known when it was assigned."""
        target = fill_in(self.assignment.target, self.assignment.environment)
        if (why := why_no_swarms(target)) is not None:
            raise BadInput(why)
        self._driver = driver = open_driver(target, {**self.assignment.endpoints, **(more or {})})
        assert isinstance(driver, SwarmDriver)
        return driver

    def sample(self, processes: Mapping[str, tuple[str, int]]) -> None:
        """Processes that belong to this agent, beside its own; before it begins."""
        own = {self.assignment.task.agent: (self.assignment.task.kind, os.getpid())}
        self._sampler = Sampler({**own, **processes}, False, self.publish)

    def mark_connected(self) -> ClockReading:
        reading = read_clocks()
        self._diary.mark("connected", reading.monotonic_ns)
        return reading

    def begin(self, reading: ClockReading, start: Start) -> None:
        self._diary.set_clock(reading, start)
        self.reference_offset_ns = start.reference_offset_ns
        self._diary.mark("start", start.at_ns)
        if start.sample_machine:
            self._sampler.watch_machine()
        self._sampler.start()

    @contextlib.contextmanager
    def watched(
        self, sources: Iterable[NewLatencies], start: Start, rendezvous: Rendezvous
    ) -> Iterator[None]:
        """Tell of the load meanwhile, where its warm-up goes on until it is at rest."""
        if (terms := self.point.settling) is None:
            yield
            return
        warming_up = WarmingUp(sources, rendezvous.tell_levels, terms.limit_s)
        warming_up.start(start.at_ns)
        try:
            yield
        finally:
            warming_up.stop()

    def known_by_now(self, schedule: Schedule, rendezvous: Rendezvous) -> Schedule:
        """`schedule`: as it was known at the start."""
        return schedule.since_slot(rendezvous.measured_slot()) if self.point.settling else schedule

    def mark(self, name: str, at_ns: int) -> None:
        self._diary.mark(name, at_ns)

    def close(self) -> None:
        """Events first: a client that does not close must not cost data."""
        try:
            self._sampler.stop()
            self.keep()
            self.files.write_rows(SAMPLES, self._sampler.rows)
            self._diary.write()
        except StreamgaugeError as error:
            self.manifest.outcome, self.manifest.reason = "failed", str(error)
            self.manifest.error = type(error).__name__
        self.manifest.counts = dict(self.files.rows)
        with contextlib.suppress(BadInput):
            write_manifest(self.assignment, self.manifest)
        # Not in a thread of its own: connections belong to the one that opened them.
        self.let_go()
        if self._driver is not None:
            self._driver.close()
