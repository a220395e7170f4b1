"""When messages are due, and which of them are warm-up: one definition for who sends and who receives."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from streamgauge.core.clock import NS_PER_MS, NS_PER_S


def due_ns(start_ns: int, number: int, rate_per_s: float) -> int:
    return start_ns + round(number * NS_PER_S / rate_per_s)


@dataclass(frozen=True)
class Schedule:
    """The messages of a case; times are monotonic, of the host that asks."""

    start_ns: int
    rate_per_s: float
    warm_up_count: int
    message_count: int
    """Warm-up and all."""

    def due_ns(self, number: int) -> int:
        return due_ns(self.start_ns, number, self.rate_per_s)

    def number_at(self, time_ns: int) -> int | None:
        """Which message is due about then; None: none is.

        Times come from a stamp, by wall clocks that two processes have read: they may be half a pause between
        messages apart, and it is still the same message.
        """
        number = round((time_ns - self.start_ns) * self.rate_per_s / NS_PER_S)
        return number if 0 <= number < self.message_count else None


class LiveSamples:
    """Latencies as they come, of the same updates and from the same moments as analysis has them later."""

    def __init__(self, schedule: Schedule, wall_offset_ns: int) -> None:
        """`wall_offset_ns`: wall clock minus monotonic clock, of this host."""
        self._schedule, self._wall_offset_ns = schedule, wall_offset_ns
        self.count = self.sum_ns = 0
        self.by_ms: Counter[int] = Counter()
        """How many had so many whole milliseconds, rounded down."""

    def heard(self, stamp_ns: int, received_ns: int) -> None:
        """An update with this stamp came; warm-up and what nobody sent are no samples."""
        number = self._schedule.number_at(stamp_ns - self._wall_offset_ns)
        if number is None or number < self._schedule.warm_up_count:
            return
        latency_ns = received_ns - self._schedule.due_ns(number)
        self.count += 1
        self.sum_ns += latency_ns
        self.by_ms[latency_ns // NS_PER_MS] += 1
