"""The clocks of a run.

Latency is measured with CLOCK_MONOTONIC, which all processes of one host share.
The broker stamps records with wall time, so each agent also takes a *reading*: the
two clocks read together, with the bound of how far apart the two reads can be.
"""

from __future__ import annotations

import ctypes
import sys
import time
from dataclasses import dataclass
from pathlib import Path

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000

MOST_DRIFT = 500e-6
"""As much as a clock is slewed at most, and far more than one drifts by itself."""

now_ns = time.monotonic_ns

_READING_ATTEMPTS = 32
_PR_SET_TIMERSLACK = 29


@dataclass(frozen=True)
class ClockReading:
    """Monotonic and wall clock of one host, read together."""

    host: str
    monotonic_ns: int
    wall_ns: int
    error_ns: int

    @property
    def wall_offset_ns(self) -> int:
        """What to add to a monotonic time of this host to get its wall time."""
        return self.wall_ns - self.monotonic_ns


def read_clocks() -> ClockReading:
    """Read both clocks many times and keep the pair read closest together."""
    best: tuple[int, int, int] | None = None
    for _ in range(_READING_ATTEMPTS):
        before = time.monotonic_ns()
        wall = time.time_ns()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) // 2, wall)
    assert best is not None
    width, middle, wall = best
    return ClockReading(host=clock_domain(), monotonic_ns=middle, wall_ns=wall, error_ns=(width + 1) // 2)


def clock_domain() -> str:
    """Names the monotonic clock: processes with the same name share it."""
    boot_id = Path("/proc/sys/kernel/random/boot_id")
    if boot_id.exists():
        return boot_id.read_text().strip() + _time_namespace()
    import uuid

    return f"node-{uuid.getnode():x}"


def _time_namespace() -> str:
    """Containers may have a monotonic clock of their own; empty where nothing is shifted."""
    offsets = Path("/proc/self/timens_offsets")
    try:
        shifts = {line.split()[0]: line.split()[1:] for line in offsets.read_text().splitlines()}
    except (OSError, IndexError):
        return ""
    shift = shifts.get("monotonic", [])
    return "" if all(part == "0" for part in shift) else f"+{'.'.join(shift)}"


def sharpen_sleep() -> None:
    """Ask Linux to wake this thread when it asked to be, not up to 50 µs later."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def sleep_until(due_ns: int) -> None:
    """Sleep until the monotonic time `due_ns`."""
    while (left := due_ns - time.monotonic_ns()) > 0:
        time.sleep(left / NS_PER_S)


class Clock:
    """The time an agent lives by. A driver whose world is simulated brings its own."""

    now_ns = staticmethod(time.monotonic_ns)

    def sleep_until(self, due_ns: int) -> None:
        sleep_until(due_ns)

    def began_ns(self, before_ns: int) -> int:
        """When its owner began to be made, on this clock; `before_ns` is the monotonic clock just before."""
        return before_ns
