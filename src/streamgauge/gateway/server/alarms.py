"""Cohorts that have to be looked at when a time has come, with one timer for all of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from streamgauge.core.clock import NS_PER_S
from streamgauge.gateway.server.sessions import Cohort

_NS_PER_MS = 1_000_000


class Alarms:
    """`look` is given the cohorts whose time has come, and that time."""

    def __init__(self, look: Callable[[list[Cohort], int], None]) -> None:
        self._look = look
        self._loop = asyncio.get_running_loop()
        self._due: list[tuple[int, int, Cohort]] = []
        self._order = count()
        self._timer: asyncio.TimerHandle | None = None

    def arm(self, cohort: Cohort, due_ns: int) -> None:
        """Look at a cohort at that time, or before."""
        if cohort.armed_ns is None or due_ns < cohort.armed_ns:
            cohort.armed_ns = due_ns
            heappush(self._due, (due_ns, next(self._order), cohort))
            if self._due[0][2] is cohort:
                self._wait()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._due:
            delay_ns = max(0, self._due[0][0] - time.monotonic_ns())
            self._timer = self._loop.call_later(delay_ns / NS_PER_S, self._ring)

    def _ring(self) -> None:
        # Timers go by whole milliseconds: what is due within one goes along.
        now_ns = time.monotonic_ns() + _NS_PER_MS
        ready = []
        while self._due and self._due[0][0] <= now_ns:
            due_ns, _, cohort = heappop(self._due)
            # Else it was armed again since, for an earlier time.
            if cohort.armed_ns == due_ns:
                cohort.armed_ns = None
                ready.append(cohort)
        self._wait()
        self._look(ready, now_ns)
