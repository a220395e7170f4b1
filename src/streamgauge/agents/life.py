"""An agent's life: connect, meet the others, measure, drain, write everything down."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.consumer import ConsumerAgent
from streamgauge.agents.counters import added
from streamgauge.agents.diary import Diary, Manifest, write_manifest
from streamgauge.agents.extent import settles
from streamgauge.agents.live import Live
from streamgauge.agents.live_publishing import LivePublishing
from streamgauge.agents.noise_floor import NoiseFloor
from streamgauge.agents.order_producer import OrderProducerAgent
from streamgauge.agents.precedence import precedence
from streamgauge.agents.producer import ProducerAgent
from streamgauge.agents.rendezvous import Rendezvous, Start
from streamgauge.agents.sampler import Sampler
from streamgauge.agents.sent_so_far import SentSoFar
from streamgauge.agents.warming_up import WarmingUp
from streamgauge.core.clock import ClockReading, read_clocks, sharpen_sleep
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.steady_state import SLOT_NS
from streamgauge.drivers.contract import Consumer, Driver, Producer
from streamgauge.drivers.order_loops import OrderSender
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.compression import compression_ratio
from streamgauge.recording.background import BackgroundWriter
from streamgauge.recording.columns import PartWriter, ReceiveColumns, SendColumns
from streamgauge.recording.gathered import GatheredFiles
from streamgauge.recording.journal import FewRows, Journal, Moments, Streams
from streamgauge.recording.kept import Keeping
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.families import family_of
from streamgauge.spec.secrets import fill_in
from streamgauge.tables.events import MARKS, RECEIVES, SAMPLES, SENDS

CONNECT_DEADLINE_S = 30.0
_CLOSE_DEADLINE_S = 5.0


class Life(Protocol):
    """What an agent is in any role: it runs once, and is closed whatever happened."""

    manifest: Manifest

    def run(self, rendezvous: Rendezvous) -> None: ...

    def close(self) -> None:
        """Write what was recorded, then the manifest; then let go of everything."""


def live_through(assignment: Assignment, rendezvous: Rendezvous) -> Manifest:
    """Whatever happens, what was recorded is written, and the manifest says how it ended."""
    agent: Life = family_of(assignment.kind).life(assignment) or _Agent(assignment)
    try:
        agent.run(rendezvous)
    except StreamgaugeError as error:
        agent.manifest.outcome, agent.manifest.reason = "failed", str(error)
        agent.manifest.error = type(error).__name__
    except Exception as error:
        agent.manifest.outcome, agent.manifest.reason = "died", f"{type(error).__name__}: {error}"
        raise
    finally:
        agent.close()
    return agent.manifest


class _Agent:
    """A producer or a consumer."""

    def __init__(self, assignment: Assignment) -> None:
        task = assignment.task
        self._assignment = assignment
        self._files = EventFiles(assignment.run_dir, assignment.case, task.agent)
        self._diary = Diary(assignment, self._files)
        self._live = Live(assignment)
        self._sampler = Sampler({task.agent: (task.kind, os.getpid())}, False, self._live.publish)
        self._keeping = None if assignment.kept is None else Keeping(Path(assignment.kept))
        # Hundreds of streams would make as many files; but what is gathered is in memory only.
        gathers = len(task.streams) > 1 and self._keeping is None
        self._gathered = GatheredFiles(self._files) if gathers else None
        self._columns: list[SendColumns | ReceiveColumns] = []
        self._samples = FewRows(SAMPLES, self._sampler.rows, self._files)
        self._journal = self._followed(Journal(assignment.run_dir, assignment.case, task.agent))
        self._writer = BackgroundWriter(self._journal.look, self._journal.every_s)
        self._publishing: LivePublishing | None = None
        self._floor: NoiseFloor | None = None
        self._driver: Driver | None = None
        self._clients: Sequence[Producer | OrderSender | Consumer] = []
        self.manifest = Manifest(task.agent, assignment.case)

    def _followed(self, journal: Journal) -> Journal:
        """Moments first: without them nobody knows what the rest means."""
        table = SENDS if self._assignment.task.kind == "producer" else RECEIVES
        streams = Streams(table, lambda: chain.from_iterable(columns.news() for columns in self._columns))
        for source in (Moments(MARKS, self._diary.count, self._diary.rows), streams, self._samples):
            journal.follow(source.keep)
        return journal

    def run(self, rendezvous: Rendezvous) -> None:
        assignment = self._assignment
        if assignment.live_bootstrap is not None:
            self._publishing = LivePublishing(assignment, self._live)
        target = fill_in(assignment.target, assignment.environment)
        self._driver = driver = open_driver(target, assignment.endpoints)
        role: ProducerAgent | OrderProducerAgent | ConsumerAgent
        role = self._producer(driver) if assignment.task.kind == "producer" else self._consumer(driver)
        self._clients = role.clients
        self.manifest.settings = role.clients[0].settings_in_force()
        if isinstance(role, ConsumerAgent):
            for client in role.clients:
                client.wait_ready(CONNECT_DEADLINE_S)
            if assignment.load.proof and not driver.capabilities.simulated_time:
                role.prove(CONNECT_DEADLINE_S)
        reading = read_clocks()
        self._diary.mark("connected", reading.monotonic_ns)
        start = rendezvous.ready(reading, meanwhile=role.idle)
        self._set_clock(reading, start)
        if start.sample_machine:
            self._sampler.watch_machine()
        sharpen_sleep()
        is_paced = assignment.task.kind == "producer" and assignment.load.rate != "unlimited"
        if not driver.capabilities.simulated_time:
            self._sampler.start()
            if is_paced:
                load = assignment.load
                most_s = None if load.measured_s is None else load.measured_s + load.warm_up_limit
                self._floor = NoiseFloor(load.producer_count, most_s)
                self._floor.start()
            if self._publishing is not None:
                self._publishing.start(start.at_ns)
        with (
            precedence(
                assignment.load.precedence if is_paced else "none", assignment.task.numbers[0]
            ) as said,
            self._warming_up(driver, role, start, rendezvous),
        ):
            self.manifest.settings |= said
            if isinstance(role, ConsumerAgent):
                role.run(rendezvous)
            else:
                role.run(start.at_ns, rendezvous)
        if rendezvous.stopping():
            self.manifest.outcome = "stopped"
        elif role.timed_out:
            self.manifest.outcome = "timed_out"

    def _set_clock(self, reading: ClockReading, start: Start) -> None:
        self._diary.set_clock(reading, start)
        self._live.set_clock(start)
        if self._keeping is not None:
            # It is going to be killed, and without marks nobody could say what its times are worth.
            self._diary.mark("start", start.at_ns)
            self._diary.write()

    @contextlib.contextmanager
    def _warming_up(
        self,
        driver: Driver,
        role: ProducerAgent | OrderProducerAgent | ConsumerAgent,
        start: Start,
        rendezvous: Rendezvous,
    ) -> Iterator[None]:
        """Watch a load that is to settle; only in the end is it known since when its messages count."""
        if not settles(self._assignment.load, driver):
            yield
            return
        limit_s = self._assignment.load.warm_up_limit
        warming_up = WarmingUp(
            self._live.warm_up_rings.values(),
            rendezvous.tell_levels,
            limit_s,
            lambda: self._live.messages,
        )
        warming_up.start(start.at_ns)
        try:
            yield
        finally:
            warming_up.stop()
        begun: list[tuple[int | None, int | None]] = [(None, rendezvous.measured_slot())]
        if not isinstance(role, ConsumerAgent):
            # Not by what was said last: it may have ended before it heard that.
            begun = [*role.measured_slots.items()]
            self.manifest.warm_up_messages = {str(n): count for n, count in role.warm_up_messages.items()}
            self.manifest.measured_slots = {str(n): slot for n, slot in role.measured_slots.items()}
        for number, slot in begun:
            if slot is not None:
                begun_ns = start.at_ns + slot * SLOT_NS
                self._diary.mark("measure_begin", begun_ns, number, warming_up.cpu_s_at(slot))

    def _producer(self, driver: Driver) -> ProducerAgent | OrderProducerAgent:
        task, load = self._assignment.task, self._assignment.load
        places = {stream.number: (stream.topic, stream.partition) for stream in task.streams}
        columns = [
            SendColumns(
                number,
                *self._recording,
                place=places.get(number),
                completions=load.completions,
                keeping=self._keeping,
            )
            for number in task.numbers
        ]
        self._take(columns)
        self.manifest.compression_ratio = compression_ratio(
            load.message, self._assignment.tag, load.compression
        )
        role: ProducerAgent | OrderProducerAgent
        if load.engine == "jvm":
            role = OrderProducerAgent(self._assignment, driver, columns[0], self._diary, self._live)
        else:
            role = ProducerAgent(self._assignment, driver, columns, self._diary, self._live)
        self._live.look = SentSoFar(
            columns, lambda: role.warm_up_messages, self._live, tells_ack_times=not load.consumer_count
        )
        return role

    def _consumer(self, driver: Driver) -> ConsumerAgent:
        columns = [
            ReceiveColumns(number, *self._recording, keeping=self._keeping)
            for number in self._assignment.task.numbers
        ]
        self._take(columns)
        return ConsumerAgent(self._assignment, driver, columns, self._diary, self._live)

    def _take(self, columns: Sequence[SendColumns | ReceiveColumns]) -> None:
        for each in columns:
            each.keep_in(self._journal)
        self._columns += columns

    @property
    def _recording(self) -> tuple[PartWriter, BackgroundWriter, int]:
        return self._gathered or self._files, self._writer, self._assignment.expected_rows

    def close(self) -> None:
        """Events first: a client that does not close must not cost data."""
        try:
            self._sampler.stop()
            self._end_floor()
            for columns in self._columns:
                columns.close()
            self._writer.close()
            if self._gathered is not None:
                self._gathered.flush()
            self._samples.close()
            self._diary.write()
            self._journal.close()
        except StreamgaugeError as error:
            self.manifest.outcome, self.manifest.reason = "failed", str(error)
            self.manifest.error = type(error).__name__
        if self._publishing is not None:
            self.manifest.live = self._publishing.stop()
        self.manifest.counts = dict(self._files.rows)
        self.manifest.counters = added(*(client.counters() for client in self._clients))
        # It goes to the launcher by pipe, too: a full disk must not keep it from there.
        with contextlib.suppress(StreamgaugeError):
            write_manifest(self._assignment, self.manifest)
        # A library may wait for a broker that is gone; nothing hangs on its end any more.
        closing = threading.Thread(target=self._close_clients, name="close", daemon=True)
        closing.start()
        closing.join(_CLOSE_DEADLINE_S)

    def _end_floor(self) -> None:
        if self._floor is not None:
            self._floor.stop()
            if (measured := self._diary.measured_ns()) is not None:
                self.manifest.noise_floor = self._floor.between(*measured)

    def _close_clients(self) -> None:
        for client in self._clients:
            client.close()
        if self._driver is not None:
            self._driver.close()
