"""The producer agent when the loop is in Java: it says when to begin, and fetches what was noted there."""

from __future__ import annotations

import math
import time

import numpy as np

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.extent import settles
from streamgauge.agents.live import Live
from streamgauge.agents.pacing import schedule_of
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.core.clock import NS_PER_S, Clock
from streamgauge.core.errors import CaseFailed
from streamgauge.core.steady_state import SLOT_NS
from streamgauge.drivers.contract import Driver, ProducerOptions
from streamgauge.drivers.engine import jvm_driver
from streamgauge.drivers.order_loops import OrderSender
from streamgauge.recording.columns import SendColumns

_IDLE_S = 0.05
_LOOK_S = 0.02
_FLUSH_DEADLINE_S = 60.0
_SETTLE_DEADLINE_S = 10.0
_AFTER_THE_LIMIT_S = 15.0
"""So long after the limit of a warm-up the launcher has said when measuring begins."""


def first_of_slot(slot: int, rate_per_s: float) -> int:
    """The first message that is due in this slot or later."""
    count = max(0, math.floor(slot * SLOT_NS / NS_PER_S * rate_per_s) - 1)
    while round(count / rate_per_s * NS_PER_S) < slot * SLOT_NS:
        count += 1
    return count


class OrderProducerAgent:
    """What one process produces in one case."""

    def __init__(
        self, assignment: Assignment, driver: Driver, columns: SendColumns, diary: Diary, live: Live
    ) -> None:
        task, load = assignment.task, assignment.load
        assert task.messages is not None, "load.engine: jvm sends a known number of messages"
        self._load, self._columns, self._diary, self._live = load, columns, diary, live
        self._number, self._warm_up, self._messages = task.number, task.warm_up_messages, task.messages
        self._total = task.warm_up_messages + task.messages
        self._settles = settles(load, driver)
        self._slot: int | None = None
        if self._settles:
            # Room for all that may come: rows that are not written take no memory.
            assert isinstance(load.rate, float)
            self._total += math.ceil(load.rate * (load.warm_up_limit + _AFTER_THE_LIMIT_S))
        schedule = schedule_of(load, task.number)
        assert schedule is not None
        self._schedule = schedule
        options = ProducerOptions(
            task.number, assignment.topics, load.message.carrier, load.acks, load.compression
        )
        self._sender = OrderSender(jvm_driver(driver), options, assignment.tag, self._total)
        self.clients = [self._sender]
        if load.acks == "1" or not driver.capabilities.replayable:
            columns.follow_ends(1, 1)
        # Of a load that settles it is known only in the end when measuring began.
        self._measuring = self._settles
        self.timed_out = False

    @property
    def warm_up_messages(self) -> dict[int, int]:
        """By producer, as far as it is known."""
        is_known = self._slot is not None or not self._settles
        return {self._number: self._warm_up} if is_known else {}

    @property
    def measured_slots(self) -> dict[int, int]:
        return {} if self._slot is None else {self._number: self._slot}

    def idle(self) -> None:
        if self._load.proof:
            self._sender.probe()
        time.sleep(_IDLE_S)

    def run(self, start_ns: int, rendezvous: Rendezvous) -> None:
        self._settle_probes()
        warm_up_s = self._load.warm_up_limit if self._settles else 0.0
        limit_ns = start_ns + int((warm_up_s + self._load.time_limit) * NS_PER_S)
        assert isinstance(self._load.rate, float)
        self._sender.begin(start_ns, self._load.rate, self._total, limit_ns)
        Clock().sleep_until(start_ns)
        self._diary.mark("start", Clock.now_ns(), self._number)
        while not self._sender.is_done():
            if rendezvous.stopping():
                self._sender.stop()
            self._hear(rendezvous)
            self._fetch(start_ns)
            time.sleep(_LOOK_S)
        self._flush(start_ns, rendezvous)
        self.timed_out |= self._columns.sent < self._total and not rendezvous.stopping()
        self._diary.mark("measure_end", Clock.now_ns(), self._number)
        rendezvous.finished(self._columns.acked_ends())

    def _hear(self, rendezvous: Rendezvous) -> None:
        """Since which slot messages count; that may be said again, and be a later one."""
        slot = rendezvous.measured_slot() if self._settles else None
        if slot is None or slot == self._slot:
            return
        assert isinstance(self._load.rate, float)
        self._slot, self._warm_up = slot, first_of_slot(slot, self._load.rate)
        self._total = self._warm_up + self._messages
        self._sender.end_at(self._total)

    def _settle_probes(self) -> None:
        until = time.monotonic() + _SETTLE_DEADLINE_S
        while not self._sender.probes_settled():
            if time.monotonic() > until:
                raise CaseFailed(
                    f"producer {self._number}: messages that were to prove the way are not acknowledged "
                    f"after {_SETTLE_DEADLINE_S:g} s"
                )
            time.sleep(_LOOK_S)

    def _flush(self, start_ns: int, rendezvous: Rendezvous) -> None:
        until = time.monotonic() + _FLUSH_DEADLINE_S
        self._fetch(start_ns)
        while self._sender.outstanding() and not rendezvous.stopping():
            if time.monotonic() > until:
                self.timed_out = True
                return
            time.sleep(_LOOK_S)
            self._fetch(start_ns)

    def _fetch(self, start_ns: int) -> None:
        """Rows of what was sent since the last time, and acks up to the first that is still to come."""
        first, sent = self._columns.sent, self._sender.sent()
        count = sent - first
        if count:
            intended_ns = self._schedule.offsets_ns(first, count) + start_ns
            sizes = np.full(count, self._sender.size_bytes, np.int64)
            sent_ns = self._sender.sent_ns(first, count)
            with self._columns.handing_over:
                self._columns.add(count, 0, sizes, intended_ns, sent_ns)
            if not self._measuring and sent > self._warm_up:
                self._measuring = True
                begun_ns = int(self._sender.sent_ns(self._warm_up, 1)[0])
                self._diary.mark("measure_begin", begun_ns, self._number)
            self._live.count(self._number, sent)
        if (told := self._sender.take_acks(sent)) is not None:
            self._columns.add_acks(*told)
