"""What became of messages, told one by one in a library's thread, asked for in batches in another."""

from __future__ import annotations

import threading

import numpy as np

from streamgauge.drivers.contract import UNKNOWN, Acks

Fate = tuple[int, int, int]
"""Sequence, partition, offset."""

MOST_MESSAGES = 100_000
MOST_BYTES = 32 * 1024**2
"""How much may be outstanding in a library that has no limit of its own: librdkafka's and Java's defaults."""


class Fates:
    """One writer or several, one reader. Appending to a list needs no lock; waking the reader does."""

    def __init__(self, most_messages: int = MOST_MESSAGES, most_bytes: int = MOST_BYTES) -> None:
        self._most_messages, self._most_bytes = most_messages, most_bytes
        self._largest = 1
        self._taken = self._told = 0
        self._known: list[Fate] = []
        self._errors: list[tuple[int, str]] = []
        self._news = threading.Event()

    def room(self, value_bytes: int) -> int:
        """How many more messages of about this size may be handed over."""
        self._largest = max(self._largest, value_bytes)
        most = min(self._most_messages, max(1, self._most_bytes // self._largest))
        return max(0, most - self.outstanding())

    def taken(self, count: int) -> None:
        self._taken += count

    def delivered(self, fate: Fate) -> None:
        self._known.append(fate)
        if not self._news.is_set():
            self._news.set()

    def failed(self, sequence: int, why: str) -> None:
        self._errors.append((sequence, why))
        self._news.set()

    def outstanding(self) -> int:
        return self._taken - self._told

    def take(self, timeout_s: float) -> Acks | None:
        """What came since the last call; wait for the first as long as `timeout_s`."""
        if not self._news.wait(timeout_s):
            return None
        # Cleared before the lists are read: what comes meanwhile sets it again.
        self._news.clear()
        known, errors = self._known, self._errors
        count, failures = len(known), len(errors)
        if not count and not failures:
            return None
        table = np.array(
            known[:count] + [(sequence, UNKNOWN, UNKNOWN) for sequence, _ in errors[:failures]], np.int64
        )
        acks = Acks(table[:, 0], table[:, 1].astype(np.int32), table[:, 2], dict(errors[:failures]))
        del known[:count], errors[:failures]
        self._told += len(acks)
        return acks
