"""When messages are due, and which of them are warm-up: one definition for who sends and who receives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import NS_PER_S
from streamgauge.core.steady_state import SLOT_NS

Integers = NDArray[np.int64]


def due_ns(start_ns: int, number: int, rate_per_s: float) -> int:
    return start_ns + round(number * NS_PER_S / rate_per_s)


@dataclass(frozen=True)
class Schedule:
    """The messages of a case; times are monotonic, of the host that asks."""

    start_ns: int
    rate_per_s: float
    warm_up_count: int | None
    """None: it goes on until the load is at rest, and that is not known yet."""
    measured_count: int
    slot: int | None = None
    """Since which messages count, where the warm-up went on until the load was at rest."""

    @property
    def message_count(self) -> int | None:
        """Warm-up and all; None: not known yet."""
        return None if self.warm_up_count is None else self.warm_up_count + self.measured_count

    def since_slot(self, slot: int | None) -> Schedule:
        """The same, when messages count since this slot; None: that is not known (any more)."""
        return replace(self, slot=slot, warm_up_count=None if slot is None else self._first_of(slot))

    def due_ns(self, number: int) -> int:
        return due_ns(self.start_ns, number, self.rate_per_s)

    def numbers_at(self, times_ns: Integers) -> Integers:
        """Which messages are due about then; below 0: none is.

        Times come from stamps, by wall clocks that two processes have read: they may be half a pause between
        messages apart, and it is still the same message.
        """
        numbers: Integers = np.rint((times_ns - self.start_ns) * (self.rate_per_s / NS_PER_S)).astype(
            np.int64
        )
        if self.message_count is not None:
            numbers[numbers >= self.message_count] = -1
        return numbers

    def latencies_ns(self, numbers: Integers, received_ns: Integers) -> Integers:
        due: Integers = np.rint(numbers * NS_PER_S / self.rate_per_s).astype(np.int64)
        return received_ns - self.start_ns - due

    def _first_of(self, slot: int) -> int:
        """The first message that is due in this slot or later."""
        number = math.floor(slot * SLOT_NS * self.rate_per_s / NS_PER_S)
        while self.due_ns(number) < self.start_ns + slot * SLOT_NS:
            number += 1
        return number
