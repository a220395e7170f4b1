"""An agent's figures of every second, published to a topic: one small message, from a thread of its own.

A second ends at the same moment for all agents of a case, since all count from the agreed start. What the
message holds is of that second alone, so that whoever reads adds up: over agents, and over seconds.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.live import Live
from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.latency_buckets import BucketCounters
from streamgauge.drivers.kafka.metrics import MetricsSender

_CONNECT_DEADLINE_S = 5.0
_END_DEADLINE_S = 2.0


class LivePublishing:
    """Whatever goes wrong here is told with the manifest; the case does not care."""

    def __init__(self, assignment: Assignment, live: Live) -> None:
        assert assignment.live_bootstrap is not None
        task = assignment.task
        self._about = {
            "run": assignment.run_dir.id,
            "case": assignment.case,
            "agent": task.agent,
            "kind": task.kind,
        }
        self._live, self._counters = live, BucketCounters()
        self._told = 0
        self._cpu_ns = self._start_ns = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="live", daemon=True)
        self._sender: MetricsSender | None = None
        self._reason = ""
        try:
            self._sender = MetricsSender(
                assignment.live_bootstrap, assignment.run_dir.id, _CONNECT_DEADLINE_S
            )
        except StreamgaugeError as error:
            self._reason = str(error)

    def start(self, at_ns: int) -> None:
        self._start_ns = at_ns
        if self._sender is not None:
            self._thread.start()

    def stop(self) -> dict[str, Any]:
        """What became of it: what was published, of how many messages in all, and its CPU seconds."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(2 * _END_DEADLINE_S)
        if self._sender is None:
            return {"published": 0, "undelivered": 0, "messages": 0, "cpu_s": 0.0, "reason": self._reason}
        sender = self._sender
        undelivered = sender.sent - sender.delivered
        return {
            "published": sender.sent,
            "undelivered": undelivered,
            "messages": self._told,
            "cpu_s": (self._cpu_ns + sender.cpu_ns()) / NS_PER_S,
            "reason": sender.error if undelivered else "",
        }

    def _run(self) -> None:
        assert self._sender is not None
        while not self._stop.wait(self._until_next_s()):
            # To the nearest: a thread may wake a little early or late.
            self._publish(self._sender, round((now_ns() - self._start_ns) / NS_PER_S) - 1)
            self._cpu_ns = time.thread_time_ns()
        # The second that has begun is all that is left of it.
        self._publish(self._sender, max(0, now_ns() - self._start_ns) // NS_PER_S)
        self._sender.close(_END_DEADLINE_S)
        self._cpu_ns = time.thread_time_ns()

    def _until_next_s(self) -> float:
        since_ns = now_ns() - self._start_ns
        return (NS_PER_S - since_ns % NS_PER_S if since_ns >= 0 else NS_PER_S - since_ns) / NS_PER_S

    def _publish(self, sender: MetricsSender, second: int) -> None:
        messages = self._live.messages
        missed = 0
        for ring in self._live.rings.values():
            for piece in ring.take():
                self._counters.add(piece)
            missed += ring.missed
            ring.missed = 0
        content = {
            **self._about,
            "second": second,
            "messages": messages - self._told,
            "missed": missed,
            "buckets": self._counters.take(),
        }
        self._told = messages
        sender.send(self._about["agent"], json.dumps(content, separators=(",", ":")).encode())
