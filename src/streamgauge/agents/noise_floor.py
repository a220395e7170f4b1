"""How late a bare pacer of compiled code wakes beside a load: what the machine itself does to a schedule.

A schedule lag means little without it: on a machine that wakes nobody in time the best of generators is late.
It runs in the process of a producer, in a thread without Python, for as long as that sends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streamgauge.native.loading import compiled_loops

MOST_PER_S, LEAST_PER_S = 500.0, 50.0
"""Of all producers of a case together, and of one. A wake-up takes about 10 µs, so 500 take half a percent of
a core; a p99 takes a few hundred."""
_ROOM = 1 << 20
"""The newest that are kept, 8 MiB once they are there: half an hour at the most a second."""


class NoiseFloor:
    """Runs from `start` until `stop`; harmless where nothing was compiled, and then nothing is known."""

    def __init__(self, producer_count: int, most_s: float | None = None) -> None:
        """`most_s`: how long the load goes on at the most; of hours fewer a second are looked at, so that all
        of them are kept. None: nobody knows."""
        self.rate_per_s = max(LEAST_PER_S, MOST_PER_S / max(1, producer_count))
        if most_s is not None:
            self.rate_per_s = max(1.0, min(self.rate_per_s, _ROOM / max(1.0, most_s)))
        self._loops: Any = compiled_loops()
        self._pacer: object | None = None
        self._first_ns, self._period_ns, self._late_ns = 0, 1, np.zeros(0, np.int64)

    def start(self) -> None:
        if self._loops is not None:
            self._pacer = self._loops.pacer(self.rate_per_s, _ROOM)

    def stop(self) -> None:
        if self._pacer is None:
            return
        self._first_ns, self._period_ns, late = self._loops.pacer_stop(self._pacer)
        self._late_ns, self._pacer = np.frombuffer(late, np.int64), None

    def between(self, begin_ns: int, end_ns: int) -> dict[str, float]:
        """Of what was due within these times; empty: nothing was."""
        due_ns = self._first_ns + np.arange(len(self._late_ns)) * self._period_ns
        late_ns = self._late_ns[(due_ns >= begin_ns) & (due_ns < end_ns)]
        if not len(late_ns):
            return {}
        p50, p99 = np.percentile(late_ns, [50, 99], method="inverted_cdf").tolist()
        return {
            "count": len(late_ns),
            "rate_per_s": self.rate_per_s,
            "p50_ns": p50,
            "p99_ns": p99,
            "max_ns": int(late_ns.max()),
        }
