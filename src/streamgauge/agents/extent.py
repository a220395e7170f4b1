"""Which of a producer's messages count: from where on, and how many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.steady_state import SLOT_NS
from streamgauge.drivers.contract import Driver
from streamgauge.spec.load import Load


def settles(load: Load, driver: Driver) -> bool:
    """Whether a warm-up goes on until the load is at rest; in simulated time nobody can wait for that."""
    return load.settles and not driver.capabilities.simulated_time


class Extent:
    """Known beforehand: so many to warm up, and then so many that count (None: until the time is up)."""

    def __init__(self, messages: int | None, warm_up: int) -> None:
        self._messages = messages
        self.warm_up: int | None = warm_up
        """How many come before those that count; None: that is not known yet."""
        self.last = None if messages is None else warm_up + messages
        """How many there are in all."""

    def refresh(self) -> bool:
        """Before each batch: has anything become known?"""
        return False

    def room(self, sequence: int, most: int) -> int:
        """How many messages the next batch may have, from this one on."""
        # A batch ends where the warm-up does, so that the mark stands between the two.
        in_warm_up = self.warm_up is not None and sequence < self.warm_up
        limit = self.warm_up if in_warm_up else self.last
        return most if limit is None else min(most, limit - sequence)

    def cut(self, sequence: int, intended: NDArray[np.int64]) -> NDArray[np.int64]:
        """The times that messages from `sequence` on are due, as far as they may go together."""
        return intended

    def end_ns(self, start_ns: int, duration_ns: int) -> int:
        """When a load that lasts so long ends."""
        return start_ns + duration_ns


class SettlingExtent(Extent):
    """Until at rest: the launcher says, while it goes on, since which slot messages count.

    It may say so again, and name a later slot. A batch never reaches over the end of a slot.
    """

    def __init__(
        self, messages: int | None, start_ns: int, limit_ns: int, chosen: Callable[[], int | None]
    ) -> None:
        super().__init__(messages, 0)
        self.warm_up = self.last = None
        self._start_ns, self._limit_ns, self._chosen = start_ns, limit_ns, chosen
        self._firsts: list[int] = []
        """The first message of each slot."""
        self.slot: int | None = None

    def refresh(self) -> bool:
        slot = self._chosen()
        if slot is None or slot == self.slot:
            return False
        if slot >= len(self._firsts):
            # Not yet; and what was said before it is said no more.
            was_known = self.slot is not None
            self.slot = self.warm_up = self.last = None
            return was_known
        self.slot, self.warm_up = slot, self._firsts[slot]
        self.last = None if self._messages is None else self.warm_up + self._messages
        return True

    def cut(self, sequence: int, intended: NDArray[np.int64]) -> NDArray[np.int64]:
        end_ns = self._start_ns + len(self._firsts) * SLOT_NS
        while intended[0] >= end_ns:
            self._firsts.append(sequence)
            end_ns += SLOT_NS
        if intended[-1] < end_ns:
            return intended
        return intended[: int(np.searchsorted(intended, end_ns))]

    def end_ns(self, start_ns: int, duration_ns: int) -> int:
        warm_up_ns = self._limit_ns if self.slot is None else self.slot * SLOT_NS
        return start_ns + warm_up_ns + duration_ns
