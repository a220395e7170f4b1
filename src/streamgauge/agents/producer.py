"""The producer: sends on schedule, stamps, and records what became of every message."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from streamgauge.agents.acknowledgements import (
    THREAD_BELOW_PER_S,
    AckCollector,
    InlineAcks,
    ThreadedAcks,
)
from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.live import Live
from streamgauge.agents.pacing import Pacer, schedule_of
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.core.clock import NS_PER_S
from streamgauge.drivers.contract import Driver, Producer, ProducerOptions
from streamgauge.payload.making import MessageMaker, Outgoing
from streamgauge.recording.columns import SendColumns

_FLUSH_DEADLINE_S = 60.0
_FULL_WAIT_NS = 1_000_000
_IDLE_S = 0.05
_BATCH = 1000


class ProducerAgent:
    """One producer of one case."""

    def __init__(
        self, assignment: Assignment, driver: Driver, columns: SendColumns, diary: Diary, live: Live
    ) -> None:
        task, load = assignment.task, assignment.load
        self._load, self._columns, self._diary, self._live = load, columns, diary, live
        self._warm_up = task.warm_up_messages
        self._last = None if task.messages is None else self._warm_up + task.messages
        self._topics = len(assignment.topics)
        self._maker = MessageMaker(load.message, assignment.tag, task.number)
        self._most = min(_BATCH, self._maker.batch_limit)
        self._schedule = schedule_of(load, task.number)
        self._simulated = driver.capabilities.simulated_time
        self.client: Producer = driver.producer(
            ProducerOptions(task.number, assignment.topics, load.message.carrier, load.acks, load.compression)
        )
        if load.acks == "1":
            # Consumers cannot see at once what only the leader has: they need to know how much to wait for.
            columns.follow_ends(self._topics, load.topics.partitions)
        self.timed_out = False

    def idle(self) -> None:
        """Nothing to do until the start."""
        time.sleep(_IDLE_S)

    def run(self, start_ns: int, rendezvous: Rendezvous) -> None:
        """From the agreed start until everything is sent and told of."""
        clock = self.client.clock
        acks = self._ack_collector()
        try:
            clock.sleep_until(start_ns)
            self._diary.mark("start", clock.now_ns())
            self._send_all(start_ns, acks, rendezvous)
            self._flush(acks, rendezvous)
        finally:
            acks.close()
        self._diary.mark("measure_end", clock.now_ns())
        rendezvous.finished(self._columns.acked_ends())

    def _ack_collector(self) -> AckCollector:
        rate = self._load.rate
        fastest = max(step.rate for step in rate) if isinstance(rate, tuple) else rate
        slow = fastest != "unlimited" and fastest / self._load.producers < THREAD_BELOW_PER_S
        kind = ThreadedAcks if slow and not self._simulated else InlineAcks
        return kind(self.client, self._columns)

    def _send_all(self, start_ns: int, acks: AckCollector, rendezvous: Rendezvous) -> None:
        clock, most = self.client.clock, self._most
        pacer = None if self._schedule is None else Pacer(self._schedule, start_ns)
        end_ns, end_is_limit = self._end(start_ns)
        sequence = turn = 0
        measuring = False
        while self._last is None or sequence < self._last:
            now = clock.now_ns()
            if sequence == self._warm_up and not measuring:
                self._diary.mark("measure_begin", now)
                measuring = True
            if now >= end_ns or rendezvous.stopping():
                self.timed_out = end_is_limit and now >= end_ns
                return
            # A batch ends where the warm-up does, so that the mark stands between the two.
            limit = self._warm_up if sequence < self._warm_up else self._last
            room = most if limit is None else min(most, limit - sequence)
            if pacer is None:
                intended = np.full(room, now)
            else:
                intended = pacer.due(sequence, now, room)
                if not len(intended):
                    acks.wait_until(min(pacer.next_due_ns(sequence), end_ns))
                    continue
            self._hand_over(sequence, intended, turn % self._topics, end_ns, acks, rendezvous)
            sequence = self._columns.sent
            self._live.messages = sequence
            turn += 1
            acks.look()

    def _hand_over(
        self,
        sequence: int,
        intended: NDArray[np.int64],
        topic: int,
        end_ns: int,
        acks: AckCollector,
        rendezvous: Rendezvous,
    ) -> None:
        """Send one batch. A client that is full is waited for: the delay shows as schedule lag."""
        clock, columns = self.client.clock, self._columns
        batch: Outgoing = self._maker.make(sequence, intended)
        sizes = self._maker.sizes(sequence, len(batch))
        done = 0
        while done < len(intended) and not rendezvous.stopping():
            with columns.handing_over:
                sent_ns = clock.now_ns()
                taken = self.client.send(batch, topic)
                if taken:
                    # Without a schedule a message is due when it is sent.
                    due = intended[done:] if self._schedule is not None else np.full(taken, sent_ns)
                    columns.add(taken, topic, sizes[done:], due, sent_ns)
            done += taken
            if done < len(intended):
                batch = batch.rest(taken)
                if clock.now_ns() >= end_ns:
                    return
                acks.wait_until(clock.now_ns() + _FULL_WAIT_NS)

    def _flush(self, acks: AckCollector, rendezvous: Rendezvous) -> None:
        """Wait until the fate of every message is known, but not for ever."""
        clock = self.client.clock
        deadline_ns = clock.now_ns() + int(_FLUSH_DEADLINE_S * NS_PER_S)
        self.client.flush_soon()
        while self.client.outstanding() and not rendezvous.stopping():
            if clock.now_ns() >= deadline_ns:
                self.timed_out = True
                return
            acks.wait_until(clock.now_ns() + 5 * _FULL_WAIT_NS)

    def _end(self, start_ns: int) -> tuple[int, bool]:
        """When to end at the latest, and whether that cuts short what was asked for."""
        limit_s, duration_s = self._load.time_limit, self._load.duration
        if self._last is None and duration_s is not None and duration_s <= limit_s:
            return start_ns + int(duration_s * NS_PER_S), False
        return start_ns + int(limit_s * NS_PER_S), True
