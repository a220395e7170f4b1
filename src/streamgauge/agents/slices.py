"""Handing over a batch slice by slice, so that every message has a stamp of its own.

A call of the client takes many messages, and the clock can only be read before and after it. So a batch goes
in slices of about `SLICE_NS`, and the messages of a slice get times spread evenly over it: of one that takes
100 µs no stamp is further off than that, and all of them lie between two readings of the clock.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamgauge.drivers.contract import Producer
from streamgauge.payload.few import FEW
from streamgauge.payload.making import Outgoing

SLICE_NS = 100_000
_LEAST_COUNT, _FIRST_COUNT, _MOST_COUNT = 16, 128, 1024


class Slices:
    """Of one producer; how many messages a slice holds follows from what the ones before took."""

    def __init__(self, client: Producer) -> None:
        self._client, self._clock = client, client.clock
        self._count = _FIRST_COUNT

    def send(self, batch: Outgoing, topic: int, until_ns: int) -> tuple[int, NDArray[np.int64] | list[int]]:
        """How many of them, from the first on, were taken before the time was up, and when each was."""
        begun_ns = self._clock.now_ns()
        if len(batch) <= FEW:
            return self._send_few(batch, topic, begun_ns)
        ends, times_ns = [0], [0]
        while ends[-1] < len(batch):
            stop = ends[-1] + self._count
            piece = batch if not ends[-1] and stop >= len(batch) else batch.part(ends[-1], stop)
            taken = self._client.send(piece, topic)
            if not taken:
                break
            ends.append(ends[-1] + taken)
            times_ns.append(self._clock.now_ns() - begun_ns)
            self._adapt(taken, times_ns[-1] - times_ns[-2])
            if taken < len(piece) or begun_ns + times_ns[-1] >= until_ns:
                break
        if ends[-1] <= 1:
            return ends[-1], np.full(ends[-1], begun_ns)
        spread = np.interp(np.arange(ends[-1]), ends, times_ns)
        return ends[-1], begun_ns + spread.astype(np.int64)

    def _send_few(self, batch: Outgoing, topic: int, begun_ns: int) -> tuple[int, list[int]]:
        """One slice, and no arrays. All have the time before it: what takes them at once delivers them at
        once, and times spread over so short a call could lie behind their receipts."""
        taken = self._client.send(batch, topic)
        return taken, [begun_ns] * taken

    def _adapt(self, count: int, took_ns: int) -> None:
        """Not to less than half at once: a process that waited for a core says little of the next slice."""
        fitting = count * SLICE_NS // max(took_ns, 1)
        bounded = min(max(fitting, self._count // 2), 2 * self._count)
        self._count = min(max(bounded, _LEAST_COUNT), _MOST_COUNT)
