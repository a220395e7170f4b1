"""What became of messages that a transport takes for good, or refuses, while they are handed over."""

from __future__ import annotations

import queue

import numpy as np
from numpy.typing import NDArray

from streamgauge.drivers.contract import Acks, Producer


class InstantAcks:
    """Filled by the thread that sends, emptied by the one that polls."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Acks] = queue.SimpleQueue()
        # Two counts, each for one thread: adding to one from both would lose some.
        self._taken = self._told = 0

    def add(self, first_sequence: int, partition: int, offsets: NDArray[np.int64]) -> None:
        """Those of messages that follow each other were taken."""
        count = len(offsets)
        self._taken += count
        sequences = np.arange(first_sequence, first_sequence + count)
        self._waiting.put(Acks(sequences, partition, offsets))

    def poll(self, timeout_s: float) -> Acks | None:
        try:
            acks = self._waiting.get(timeout=timeout_s) if timeout_s > 0 else self._waiting.get_nowait()
        except queue.Empty:
            return None
        self._told += len(acks)
        return acks

    def outstanding(self) -> int:
        return self._taken - self._told


class InstantProducer(Producer):
    """A producer whose `send` tells `_acks` of what it has handed over."""

    tells_at_once = True

    def __init__(self) -> None:
        self._acks = InstantAcks()

    def poll(self, timeout_s: float) -> Acks | None:
        return self._acks.poll(timeout_s)

    def outstanding(self) -> int:
        return self._acks.outstanding()
