"""What an agent tells while it runs: its counts and its newest latencies, once a second.

The hot loops only count and copy. A small file in the run folder is for the progress display; the topic of
agents/live_publishing, where a run has one, is for the live view.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.latency_ring import LatencyRing
from streamgauge.agents.rendezvous import Start
from streamgauge.core.errors import BadInput
from streamgauge.core.latency_buckets import BucketCounters
from streamgauge.core.live_file import ACK_TIMES, SIDES, Counted, LiveFile
from streamgauge.core.percentiles import percentiles_of

_KEPT = 8192
_KEPT_TO_PUBLISH = 1 << 21
"""Whole seconds: no consumer takes more than two million messages in one."""
_LEAST_KEPT = 1024
_KEPT_OF_A_SLOT = 1 << 15
"""More of a quarter of a second say no more about its median."""


class Live:
    """Rings of the newest latencies; other threads make something of them."""

    def __init__(self, assignment: Assignment) -> None:
        self._run, self._case, self._task = assignment.run_dir, assignment.case, assignment.task
        numbers = self._task.numbers or (0,)
        kept = _KEPT if assignment.live_bootstrap is None else _KEPT_TO_PUBLISH
        room = max(_LEAST_KEPT, kept // len(numbers))
        receives = self._task.kind == "consumer"
        self.rings: Mapping[int, LatencyRing] = {n: LatencyRing(room) for n in numbers} if receives else {}
        self.warm_up_rings: Mapping[int, LatencyRing] = (
            {n: LatencyRing(_KEPT_OF_A_SLOT) for n in self.rings} if assignment.settling else {}
        )
        """The same again, for whoever watches the load settle."""
        self._clock_shifts: NDArray[np.int64] | None = None
        self._counts: dict[int, int] = {}
        self.told: dict[str, Any] = {}
        """What else there is to tell."""
        self.look: Callable[[], Mapping[str, Any]] = dict
        """Asked before each time that something is told, for what else there is by then."""
        self.counts: Counted = SIDES.get(self._task.kind, "done")
        """What its messages are: sent, received, or just done with."""
        self._buckets, self._looked = BucketCounters(), dict.fromkeys(self.rings, 0)
        self._tick = 0
        self._process = psutil.Process()

    @property
    def messages(self) -> int:
        return sum(self._counts.copy().values())

    def set_clock(self, start: Start) -> None:
        """Where hosts have clocks of their own, latencies are put right by what is known at the start."""
        if not start.producer_offsets_ns:
            return
        offsets = {int(number): offset for number, offset in start.producer_offsets_ns.items()}
        self._clock_shifts = np.zeros(max(offsets) + 1, np.int64)
        for number, offset in offsets.items():
            self._clock_shifts[number] = offset - start.reference_offset_ns

    def count(self, number: int, messages: int) -> None:
        """So many messages of the producer or consumer with this number by now."""
        self._counts[number] = messages

    def observe(
        self,
        number: int,
        latencies_ns: NDArray[np.int64],
        producers: NDArray[np.int32],
        intact: NDArray[np.bool_],
    ) -> None:
        """Keep those of intact messages; called once a batch."""
        latencies = latencies_ns[intact]
        if self._clock_shifts is not None:
            latencies = latencies - self._clock_shifts.take(producers[intact], mode="clip")
        self.rings[number].add(latencies)
        if self.warm_up_rings:
            self.warm_up_rings[number].add(latencies)

    def observe_one(self, number: int, latency_ns: int, producer: int) -> None:
        """The same for one message, which is intact."""
        if self._clock_shifts is not None:
            last = len(self._clock_shifts) - 1
            latency_ns -= self._clock_shifts.item(min(max(producer, 0), last))
        self.rings[number].add_one(latency_ns)
        if self.warm_up_rings:
            self.warm_up_rings[number].add_one(latency_ns)

    def publish(self) -> None:
        """Best effort: the display is not worth failing for."""
        if not self._run.is_quick:
            return
        self._tick += 1
        # Messages first: one that is counted has been looked at.
        messages = self.messages
        damaged = self._damaged_of(messages)
        also = self.look()
        content: LiveFile = {
            "case": self._case,
            "kind": self._task.kind,
            "messages": messages,
            "counts": self.counts,
            "tick": self._tick,
            "at_s": time.time(),
            "cpu_s": time.process_time(),
            "rss_bytes": self._process.memory_info().rss,
            "buckets": self._newest_buckets(),
            **damaged,  # type: ignore[typeddict-item]
            **also,
            **self.told,
        }
        most = max(_LEAST_KEPT, _KEPT // max(1, len(self.rings)))
        newest = [ring.newest(most) for ring in self.rings.values()]
        if newest and len(kept := np.concatenate(newest)):
            content["p99_ms"] = float(np.percentile(kept, 99)) / 1e6
        elif content["buckets"] and content.get("times_are") == ACK_TIMES:
            [p99_ns] = percentiles_of(dict(content["buckets"]), (0.99,))
            content["p99_ms"] = p99_ns / 1e6
        # In one line: written second by second, beside what is measured.
        text = json.dumps(content, separators=(",", ":"))
        with contextlib.suppress(BadInput):
            self._run.write_text(self._run.live(self._task.agent), text)

    def _damaged_of(self, messages: int) -> dict[str, int]:
        """Consumers keep a latency of every intact message before they count it."""
        if not self.rings:
            return {}
        return {"damaged": max(0, messages - sum(ring.written for ring in self.rings.values()))}

    def tell_times(self, times_ns: NDArray[np.int64]) -> None:
        """Times of something else than messages on their way, to be told next."""
        self._buckets.add(times_ns)

    def _newest_buckets(self) -> list[tuple[int, int]]:
        """Of what came since the last time; of very many the newest."""
        most = max(_LEAST_KEPT, _KEPT // max(1, len(self.rings)))
        for number, ring in self.rings.items():
            written = ring.written
            fresh = min(most, written - self._looked[number])
            self._looked[number] = written
            if fresh:
                self._buckets.add(ring.newest(fresh))
        return self._buckets.take()
