"""What an agent tells while its load warms up: a slot of time after another, its latency and its CPU.

The launcher finds from it since when the load is at rest (launch/settling). It goes on while the load is
measured, for a level that rested may change, and then measuring begins anew; but not for ever: what
happens in a long load afterwards is for the analysis to find.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge.agents.rendezvous import Levels
from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.steady_state import SLOT_NS

_TELL_EVERY = 2
"""Slots."""
_JOIN_DEADLINE_S = 5.0


class NewLatencies(Protocol):
    """Where latencies of messages come from."""

    def take(self) -> Iterator[NDArray[np.int64]]:
        """Those in ns that came since the last time."""


class WarmingUp:
    """A thread that wakes at the end of each slot; the loops only copy latencies for it."""

    def __init__(
        self,
        sources: Iterable[NewLatencies],
        tell: Callable[[Levels], None],
        limit_s: float,
        counted: Callable[[], int] | None = None,
    ) -> None:
        """`limit_s`: how long the load may take to settle; as long again it is watched. `counted`: messages
        sent or received so far; None: those whose latency there is."""
        self._sources, self._tell = list(sources), tell
        self._counted, self._before = counted, 0
        self._most = 2 * math.ceil(limit_s * NS_PER_S / SLOT_NS)
        self._levels: Levels = []
        self._start_ns = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="warming-up", daemon=True)

    def start(self, start_ns: int) -> None:
        self._start_ns = start_ns
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(_JOIN_DEADLINE_S)

    def cpu_s_at(self, slot: int) -> float:
        """CPU that the process had used when this slot began."""
        if not self._levels:
            return time.process_time()
        return self._levels[min(max(slot - 1, 0), len(self._levels) - 1)][2]

    def _watch(self) -> None:
        while len(self._levels) < self._most:
            end_ns = self._start_ns + (len(self._levels) + 1) * SLOT_NS
            if self._stop.wait(max(0, end_ns - now_ns()) / NS_PER_S):
                return
            latencies = [piece.copy() for source in self._sources for piece in source.take()]
            received = np.concatenate(latencies) if latencies else np.zeros(0)
            median_ns = float(np.median(received)) if len(received) else None
            self._levels.append((self._messages(len(received)), median_ns, time.process_time()))
            if len(self._levels) % _TELL_EVERY == 0:
                self._tell(self._levels)

    def _messages(self, with_latency: int) -> int:
        """Of the slot that has just ended."""
        if self._counted is None:
            return with_latency
        before, self._before = self._before, self._counted()
        return self._before - before
