"""How one operation of a comparison is timed: a place, a stopwatch, a deadline."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streamgauge.core.clock import NS_PER_S, Clock, now_ns
from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import SharedSetting

SETTLE_S = 0.2
"""Without acks nobody tells when a message has arrived."""

_FETCH_MARGIN_S = 0.02
_FETCH_WAIT_MS = 500
"""Kafka's default, where the library does not tell."""


@dataclass
class Place:
    """Where a test takes place: a topic of its own, and where its messages begin in each partition."""

    topic: str
    number: int
    """Of the test; clients are named by it."""
    start: dict[tuple[int, int], int]


class Stopwatch:
    """Time and CPU time. It may begin before there is a client whose clock counts."""

    def __init__(self) -> None:
        self._clock = Clock()
        self.started_ns = self._before_ns = now_ns()
        self._cpu_ns = time.process_time_ns()
        self._paused_ns = 0
        self.elapsed_ns = self.cpu_ns = 0

    def go_by(self, clock: Clock) -> None:
        """Count by a client's own clock, from when the client began to be made."""
        self._clock, self.started_ns = clock, clock.began_ns(self._before_ns)

    def restart(self) -> None:
        self._cpu_ns, self._paused_ns = time.process_time_ns(), 0
        self.started_ns = self._clock.now_ns()

    def pause(self, seconds: float) -> None:
        """Wait, without counting it."""
        before_ns = self._clock.now_ns()
        self._clock.sleep_until(before_ns + round(seconds * NS_PER_S))
        self._paused_ns += self._clock.now_ns() - before_ns

    def stop(self) -> None:
        self.elapsed_ns = self._clock.now_ns() - self.started_ns - self._paused_ns
        self.cpu_ns = time.process_time_ns() - self._cpu_ns


class Deadline:
    """Nothing waits for ever; in real time, also where the clock is simulated."""

    def __init__(self, seconds: float, what: str, expected: int) -> None:
        self._seconds, self._what, self._expected = seconds, what, expected
        self._end = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def put_off(self, seconds: float) -> None:
        """A pause that is asked for is no delay."""
        self._end += seconds

    def check(self, done: int) -> None:
        if time.monotonic() > self._end:
            raise CaseFailed(
                f"{self._what}: {done} of {self._expected} messages within {self._seconds:g} s "
                "(comparison.test_timeout)"
            )


def wait_out_fetches(settings: Iterable[SharedSetting], clock: Clock) -> None:
    """A fetch that waits at the end of a partition would hold up the one that is to be timed, by as long as
    the broker waits for more: let it come back before."""
    told = {setting.name: setting.value for setting in settings}
    wait_ms: Any = told.get("fetch_max_wait_ms")
    wait_s = (_FETCH_WAIT_MS if wait_ms is None else float(wait_ms)) / 1000 + _FETCH_MARGIN_S
    clock.sleep_until(clock.now_ns() + round(wait_s * NS_PER_S))


def since(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What was counted meanwhile."""
    return {name: count - before.get(name, 0) for name, count in after.items()}
