"""How much noise there is on this machine: the same work against itself, in turn.

What A and A seem to differ by is what nobody can see through who sets A against B.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median, stdev

ROUNDS = 40
PAIRS = 20
"""As many as libraries are usually set against each other."""
POWER_AND_SIGNIFICANCE = 2.8
"""Standard errors: what is found in 4 of 5 tries, at 5%."""
_MESSAGES = 1500
_BYTES = 1024


@dataclass(frozen=True)
class Noise:
    rounds: int
    median_ms: float
    """Of one piece of work."""
    spread_percent: float
    """What two turns of the same are apart by (SD)."""
    detectable_percent: float
    """Differences below it cannot be seen here."""
    bias_percent: float
    """What A seems to be slower than A: chance, or an order that matters."""


def machine_noise(
    rounds: int = ROUNDS,
    work: Callable[[], object] | None = None,
    now_ns: Callable[[], int] = time.perf_counter_ns,
) -> Noise:
    """ABBA, so that what drifts touches both alike."""
    if work is not None:
        return _noise(rounds, work, now_ns)
    with _Echo() as echo:
        return _noise(rounds, echo.run, now_ns)


def _noise(rounds: int, work: Callable[[], object], now_ns: Callable[[], int]) -> Noise:
    work()
    times_ns: list[tuple[int, int]] = []
    for number in range(rounds):
        first, second = _timed(work, now_ns), _timed(work, now_ns)
        times_ns.append((first, second) if number % 2 == 0 else (second, first))
    logs = [math.log(a / b) for a, b in times_ns]
    spread = stdev(logs)
    detectable = POWER_AND_SIGNIFICANCE * spread / math.sqrt(PAIRS)
    return Noise(
        rounds=rounds,
        median_ms=median(time for pair in times_ns for time in pair) / 1e6,
        spread_percent=100 * math.expm1(spread),
        detectable_percent=100 * math.expm1(detectable),
        bias_percent=100 * math.expm1(mean(logs)),
    )


def _timed(work: Callable[[], object], now_ns: Callable[[], int]) -> int:
    start = now_ns()
    work()
    return max(1, now_ns() - start)


class _Echo:
    """Messages through a socket and back: what clients and the kernel do all day, and no disk."""

    def __enter__(self) -> _Echo:
        self._near, self._far = socket.socketpair()
        self._message = bytes(_BYTES)
        return self

    def __exit__(self, *_: object) -> None:
        self._near.close()
        self._far.close()

    def run(self) -> None:
        for _ in range(_MESSAGES):
            self._near.sendall(self._message)
            self._far.recv(_BYTES, socket.MSG_WAITALL)
