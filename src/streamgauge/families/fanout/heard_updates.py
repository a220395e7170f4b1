"""What a swarm's measured clients got: noted by its loop, made something of by other threads meanwhile."""

from __future__ import annotations

import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import NS_PER_MS
from streamgauge.families.fanout.schedule import Integers, Schedule

_PIECE = 8192
"""So small that the loop does not wait for the interpreter long."""


class HeardUpdates:
    """Columns that only grow; one thread adds, others may read."""

    def __init__(self) -> None:
        self._clients, self._stamps, self._received = array("i"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._received)

    def add(self, client: int, stamp_ns: int, received_ns: int) -> None:
        self._clients.append(client)
        self._stamps.append(stamp_ns)
        self._received.append(received_ns)  # last: what is counted is there

    def extend(
        self, clients: NDArray[np.int32], stamps_ns: NDArray[np.int64], received_ns: NDArray[np.int64]
    ) -> None:
        self._clients.frombytes(clients.tobytes())
        self._stamps.frombytes(stamps_ns.tobytes())
        self._received.frombytes(received_ns.tobytes())

    @property
    def clients(self) -> NDArray[np.int32]:
        return np.array(self._clients, np.int32)

    @property
    def stamps_ns(self) -> Integers:
        return np.array(self._stamps, np.int64)

    @property
    def received_ns(self) -> Integers:
        return np.array(self._received, np.int64)

    def pieces(self, first: int, end: int) -> Iterator[tuple[Integers, Integers]]:
        """Stamps and times of those from `first` to before `end`."""
        for begin in range(first, end, _PIECE):
            piece = slice(begin, min(end, begin + _PIECE))
            # Copied as arrays: of what numpy looks into, nothing could be added meanwhile.
            yield np.frombuffer(self._stamps[piece], np.int64), np.frombuffer(self._received[piece], np.int64)


class NewUpdates:
    """Latencies since the last time, of warm-up and measured ones alike: for who watches the load settle."""

    def __init__(self, heard: HeardUpdates, schedule: Schedule, wall_offset_ns: int) -> None:
        self._heard, self._schedule, self._wall_offset_ns = heard, schedule, wall_offset_ns
        self._taken = 0

    def take(self) -> Iterator[Integers]:
        first, self._taken = self._taken, len(self._heard)
        for stamps, received in self._heard.pieces(first, self._taken):
            numbers = self._schedule.numbers_at(stamps - self._wall_offset_ns)
            latencies = self._schedule.latencies_ns(numbers, received)
            yield latencies[numbers >= 0]


class LiveSamples:
    """Latencies so far, of the same updates and from the same moments as analysis has them later."""

    def __init__(self, heard: HeardUpdates, schedule: Callable[[], Schedule], wall_offset_ns: int) -> None:
        """`schedule`: as it is known now. `wall_offset_ns`: this host's wall clock minus monotonic clock."""
        self._heard, self._schedule, self._wall_offset_ns = heard, schedule, wall_offset_ns
        self._counting = threading.Lock()
        self._of, self._counted = schedule(), 0
        self.count = self.sum_ns = 0
        self.by_ms: Counter[int] = Counter()
        """How many had so many whole milliseconds, rounded down."""

    def catch_up(self) -> None:
        """Count what came since the last time; all of it anew where measuring turned out to begin elsewhere.

        Warm-up and what nobody sent are no samples.
        """
        with self._counting:
            if (schedule := self._schedule()) != self._of:
                self._of, self._counted = schedule, 0
                self.count = self.sum_ns = 0
                self.by_ms.clear()
            if schedule.warm_up_count is None:
                return
            first, self._counted = self._counted, len(self._heard)
            for stamps, received in self._heard.pieces(first, self._counted):
                numbers = schedule.numbers_at(stamps - self._wall_offset_ns)
                latencies = schedule.latencies_ns(numbers, received)[numbers >= schedule.warm_up_count]
                self.count += len(latencies)
                self.sum_ns += int(latencies.sum())
                values, counts = np.unique(latencies // NS_PER_MS, return_counts=True)
                self.by_ms.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))

    def told(self) -> dict[str, int]:
        """How many had so many whole milliseconds, as JSON has it."""
        self.catch_up()
        with self._counting:
            return {str(ms): count for ms, count in self.by_ms.items()}
