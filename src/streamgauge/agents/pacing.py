"""When each message is due. Open loop: the schedule does not wait for anyone.

Message k of the whole case is due k/rate after the start. Producer i of P sends the messages
i, i+P, i+2P …, so that together they follow the one schedule.
"""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import NS_PER_S
from streamgauge.spec.load import Load

_AHEAD = 4096


class Schedule:
    """A staircase of rates; the last one goes on for ever. A constant rate is one stair."""

    def __init__(self, steps: list[tuple[float, float]], producers: int, number: int) -> None:
        """`steps`: (messages, messages a second) of all producers together."""
        self._producers, self._number = producers, number
        counts = np.array([count for count, _ in steps[:-1]], float)
        self._rates = np.array([rate for _, rate in steps], float)
        self._first = np.concatenate([[0.0], np.cumsum(counts)])
        self._begin_s = np.concatenate([[0.0], np.cumsum(counts / self._rates[:-1])])

    def offsets_ns(self, first: int, count: int) -> NDArray[np.int64]:
        """Due times after the start of this producer's messages `first` …, in ns."""
        k = np.arange(first, first + count, dtype=np.float64) * self._producers + self._number
        step = np.searchsorted(self._first, k, side="right") - 1
        seconds = self._begin_s[step] + (k - self._first[step]) / self._rates[step]
        offsets: NDArray[np.int64] = np.rint(seconds * NS_PER_S).astype(np.int64)
        return offsets


def schedule_of(load: Load, number: int) -> Schedule | None:
    """The schedule of one producer; None: as fast as it goes. A warm-up goes at the first rate."""
    if load.rate == "unlimited":
        return None
    if isinstance(load.rate, tuple):
        stairs = [(step.rate * step.for_, step.rate) for step in load.rate]
        stairs[0] = (stairs[0][0] + load.total_warm_up_messages, stairs[0][1])
    else:
        stairs = [(math.inf, float(load.rate))]
    return Schedule(stairs, load.producer_count, number)


class Pacer:
    """Walks along a schedule: how many messages are due now, and when is the next one?"""

    def __init__(self, schedule: Schedule, start_ns: int) -> None:
        self._schedule, self._start_ns = schedule, start_ns
        self._look_ahead(0)

    def due(self, sequence: int, now_ns: int, most: int) -> NDArray[np.int64]:
        """Intended times of the messages from `sequence` on that are due by now, `most` at the most."""
        place = self._place(sequence)
        # A list is looked through in a tenth of the time that an array takes, where few are due.
        ahead_ns = self._ahead_ns or self._listed()
        end = bisect_right(ahead_ns, now_ns, place, min(place + most, len(ahead_ns)))
        return self._ahead[place:end]

    def ahead(self, sequence: int, most: int) -> NDArray[np.int64]:
        """Intended times of the messages from `sequence` on, due or not, as far as they are known yet."""
        place = self._place(sequence)
        return self._ahead[place : place + most]

    def next_due_ns(self, sequence: int) -> int:
        place = self._place(sequence)  # may replace what is ahead
        return (self._ahead_ns or self._listed())[place]

    def _place(self, sequence: int) -> int:
        place = sequence - self._ahead_first
        if place >= len(self._ahead):
            self._look_ahead(sequence)
            place = 0
        return place

    def _look_ahead(self, first: int) -> None:
        self._ahead_first = first
        self._ahead = self._schedule.offsets_ns(first, _AHEAD) + self._start_ns
        self._ahead_ns: list[int] = []

    def _listed(self) -> list[int]:
        """Not before somebody asks: a loop beneath Python does not."""
        self._ahead_ns = self._ahead.tolist()
        return self._ahead_ns
