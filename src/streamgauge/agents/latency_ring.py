"""The newest latencies of one consumer: written by its loop, read by another thread."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_PIECE = 8192


class LatencyRing:
    """The loop only copies into it; whoever reads does the rest. One writer, one reader who takes."""

    def __init__(self, room: int) -> None:
        # Written to now, so that the loop is not the one to wait for its pages.
        self._values = np.full(room, -1, np.int64)
        self._written = self._taken = 0
        self.missed = 0
        """Overwritten before they were taken."""

    def add(self, latencies_ns: NDArray[np.int64]) -> None:
        room = len(self._values)
        newest = latencies_ns[-room:]
        skipped = len(latencies_ns) - len(newest)
        place = (self._written + skipped) % room
        whole = min(len(newest), room - place)
        self._values[place : place + whole] = newest[:whole]
        self._values[: len(newest) - whole] = newest[whole:]
        # Last: what is counted is there.
        self._written += len(latencies_ns)

    def add_one(self, latency_ns: int) -> None:
        self._values[self._written % len(self._values)] = latency_ns
        self._written += 1

    @property
    def written(self) -> int:
        """So many by now, whether they are still there or not."""
        return self._written

    def newest(self, most: int) -> NDArray[np.int64]:
        """At most so many."""
        end, room = self._written, len(self._values)
        begin = max(0, end - min(most, room))
        return self._values[np.arange(begin, end) % room]

    def take(self) -> Iterator[NDArray[np.int64]]:
        """What came since the last time, in pieces so small that nobody waits for the interpreter long."""
        end, room = self._written, len(self._values)
        begin = max(self._taken, end - room)
        self.missed += begin - self._taken
        self._taken = end
        while begin < end:
            place = begin % room
            piece = min(_PIECE, end - begin, room - place)
            yield self._values[place : place + piece]
            begin += piece
