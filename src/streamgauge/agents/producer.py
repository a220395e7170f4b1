"""The producer agent: one producer, or one for each of several partitions, taking turns."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence

from streamgauge.agents.acknowledgements import (
    THREAD_BELOW_PER_S,
    AckCollector,
    InlineAcks,
    ThreadedAcks,
)
from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.extent import SettlingExtent
from streamgauge.agents.live import Live
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.agents.sending import Sending
from streamgauge.core.clock import Clock
from streamgauge.drivers.contract import Driver, PacedProducer, Producer
from streamgauge.plan.agent_tasks import AgentTask, Stream
from streamgauge.recording.columns import SendColumns

_IDLE_S = 0.05
_LOOK_NS = 1_000_000
"""While nothing is due, acks of several producers are looked for this often."""
_MOST_ACK_THREADS = 32


class ProducerAgent:
    """What one process produces in one case; `columns`: one for each number of its task."""

    def __init__(
        self, assignment: Assignment, driver: Driver, columns: Sequence[SendColumns], diary: Diary, live: Live
    ) -> None:
        parts: Sequence[AgentTask | Stream] = assignment.task.streams or (assignment.task,)
        self._load, self._columns, self._diary = assignment.load, columns, diary
        self._simulated, self._acked = driver.capabilities.simulated_time, driver.capabilities.acked
        self._sendings = [
            Sending(assignment, driver, part, own, diary, live)
            for part, own in zip(parts, columns, strict=True)
        ]
        self.clients: list[Producer] = [sending.client for sending in self._sendings]

    @property
    def timed_out(self) -> bool:
        return any(sending.timed_out for sending in self._sendings)

    @property
    def warm_up_messages(self) -> dict[int, int]:
        """By producer, as far as it is known."""
        known = {sending.number: sending.extent.warm_up for sending in self._sendings if sending.extent}
        return {number: count for number, count in known.items() if count is not None}

    @property
    def measured_slots(self) -> dict[int, int]:
        """By producer: since which slot its messages count, where that was found while it went on."""
        extents = {sending.number: sending.extent for sending in self._sendings}
        known = {n: extent.slot for n, extent in extents.items() if isinstance(extent, SettlingExtent)}
        return {number: slot for number, slot in known.items() if slot is not None}

    def idle(self) -> None:
        """Nothing to do until the start but to let the consumer prove that it receives."""
        if self._load.proof and not self._simulated:
            self._sendings[0].probe()
        time.sleep(_IDLE_S)

    def run(self, start_ns: int, rendezvous: Rendezvous) -> None:
        """From the agreed start until everything is sent and told of."""
        if self._load.proof:
            self._sendings[0].settle_probes()
        collectors = [self._ack_collector(*own) for own in zip(self.clients, self._columns, strict=True)]
        try:
            if self._simulated or len(self._sendings) == 1:
                # Each has a time of its own, or there is only one.
                self._one_after_another(collectors, start_ns, rendezvous)
            else:
                for sending in self._sendings:
                    sending.is_alone = False
                self._in_turn(collectors, start_ns, rendezvous)
        finally:
            for acks in collectors:
                acks.close()
        rendezvous.finished({k: v for columns in self._columns for k, v in columns.acked_ends().items()})

    def _one_after_another(
        self, collectors: list[AckCollector], start_ns: int, rendezvous: Rendezvous
    ) -> None:
        for sending, acks in zip(self._sendings, collectors, strict=True):
            self._begin(sending.client.clock, start_ns, sending.number)
            for due_ns in sending.steps(start_ns, acks, rendezvous):
                if due_ns:
                    acks.wait_until(due_ns)

    def _in_turn(self, collectors: list[AckCollector], start_ns: int, rendezvous: Rendezvous) -> None:
        """Whoever is due goes next; nobody waits for anybody."""
        clock = self.clients[0].clock
        self._begin(clock, start_ns)
        turns: list[tuple[int, int, Iterator[int]]] = [
            (0, number, sending.steps(start_ns, acks, rendezvous))
            for number, (sending, acks) in enumerate(zip(self._sendings, collectors, strict=True))
        ]
        while turns:
            due_ns, number, steps = turns[0]
            now_ns = clock.now_ns()
            if due_ns > now_ns:
                for client, acks in zip(self.clients, collectors, strict=True):
                    if client.outstanding():
                        acks.look()
                clock.sleep_until(min(due_ns, now_ns + _LOOK_NS))
                continue
            try:
                next_ns = next(steps)
            except StopIteration:
                heapq.heappop(turns)
                continue
            # A step that wants the next one at once goes behind those that have waited.
            heapq.heapreplace(turns, (next_ns or clock.now_ns(), number, steps))

    def _begin(self, clock: Clock, start_ns: int, number: int | None = None) -> None:
        clock.sleep_until(start_ns)
        self._diary.mark("start", clock.now_ns(), number)

    def _ack_collector(self, client: Producer, columns: SendColumns) -> AckCollector:
        rate = self._load.rate
        fastest = max(step.rate for step in rate) if isinstance(rate, tuple) else rate
        own = len(self._sendings) / self._load.producer_count
        slow = fastest != "unlimited" and fastest * own < THREAD_BELOW_PER_S
        few = len(self._sendings) <= _MOST_ACK_THREADS
        # Whoever commits a transaction must be the only one to call its producer.
        threaded = slow and few and self._acked and not self._simulated and self._load.transactions is None
        # One that paces itself hears of its messages while it waits, or knows of them at once.
        threaded = threaded and not (isinstance(client, PacedProducer) or client.tells_at_once)
        return ThreadedAcks(client, columns) if threaded else InlineAcks(client, columns)
