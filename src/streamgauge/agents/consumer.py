"""The consumer agent: one consumer, or one for each of several partitions, each in a thread."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.live import Live
from streamgauge.agents.order_receiving import OrderReceiving
from streamgauge.agents.receiving import Receiving
from streamgauge.agents.rendezvous import Ends, Rendezvous
from streamgauge.core.clock import sharpen_sleep
from streamgauge.drivers.contract import Consumer, Driver
from streamgauge.plan.agent_tasks import AgentTask, Stream
from streamgauge.recording.columns import ReceiveColumns

_IDLE_S = 0.05
_FRESH_S = 0.5
_SWITCH_S, _QUICK_SWITCH_S = 0.005, 0.0005
"""How long a thread may keep the interpreter from others that have something to stamp."""


class ConsumerAgent:
    """What one process consumes in one case; `columns`: one for each number of its task."""

    def __init__(
        self,
        assignment: Assignment,
        driver: Driver,
        columns: Sequence[ReceiveColumns],
        diary: Diary,
        live: Live,
    ) -> None:
        parts: Sequence[AgentTask | Stream] = assignment.task.streams or (assignment.task,)
        ends = _SharedEnds(assignment, driver)
        kind = OrderReceiving if assignment.load.engine == "jvm" else Receiving
        self._receivings = [
            kind(assignment, driver, part, own, diary, live, ends.now)
            for part, own in zip(parts, columns, strict=True)
        ]
        self.clients: list[Consumer] = [receiving.client for receiving in self._receivings]

    @property
    def timed_out(self) -> bool:
        return any(receiving.timed_out for receiving in self._receivings)

    def idle(self) -> None:
        """A member of a group must keep polling, or the others cannot join it."""
        if len(self._receivings) == 1:
            self._receivings[0].take(_IDLE_S)
        else:
            time.sleep(_IDLE_S)

    def prove(self, deadline_s: float) -> None:
        """Wait for a message that nobody counts."""
        self._receivings[0].prove(deadline_s)

    def run(self, rendezvous: Rendezvous) -> None:
        """Until all producers have finished and everything there is has been read."""
        if len(self._receivings) == 1:
            sys.setswitchinterval(_SWITCH_S)
            self._receivings[0].run(rendezvous)
            return
        sys.setswitchinterval(_QUICK_SWITCH_S)
        failures: list[Exception] = []

        def receive(receiving: Receiving) -> None:
            sharpen_sleep()
            try:
                receiving.run(rendezvous)
            except Exception as error:  # raised in the agent's own thread instead
                failures.append(error)

        threads = [
            threading.Thread(target=receive, args=(own,), name=f"consumer-{own.number}", daemon=True)
            for own in self._receivings
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            # Bounded by the producers' time limit, the drain timeout, and by whoever gives up the case.
            while thread.is_alive() and not failures:
                thread.join(_IDLE_S)
        if failures:
            raise failures[0]


class _SharedEnds:
    """Where partitions end: asked for once for all consumers of the process, which ask together."""

    def __init__(self, assignment: Assignment, driver: Driver) -> None:
        self._driver, self._topics = driver, assignment.topics
        self._partitions = assignment.load.topics.partitions
        self._lock = threading.Lock()
        self._is_shared = len(assignment.task.streams) > 1
        self._asked_s = 0.0
        self._ends: Ends = {}

    def now(self) -> Ends:
        with self._lock:
            if not self._is_shared or time.monotonic() - self._asked_s > _FRESH_S:
                self._asked_s = time.monotonic()
                self._ends = self._driver.end_offsets(self._topics, self._partitions)
            return self._ends
