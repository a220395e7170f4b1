"""When is a library at rest? When blocks of as many messages take as long, one after the other.

The rule is core/steady_state's. A comparison has no rate and no latency of its own: what a library shows of
itself is how long it takes for the same work, which a Java that still compiles does slower.
"""

from __future__ import annotations

import numpy as np

from streamgauge.core.steady_state import LEAST_SLOTS, SLOT_S, settled, slots_to_tell
from streamgauge.families.compare.section import Operation

BLOCK_MESSAGES: dict[Operation, int] = {"produce": 5000, "consume": 5000, "round_trip": 200}
"""Enough that making a batch and waiting for the last ack is little of it."""
LEAST_S = LEAST_SLOTS * SLOT_S
"""So long, and for so many blocks as there have to be slots, it has to be at rest: what compiles in the
background is not done within a few fast blocks. Blocks that vary much have to last longer, as slots have to:
up to half as long again."""


class BlockRest:
    """Of one library; every operation has to be at rest."""

    def __init__(self, least_s: float = LEAST_S) -> None:
        self._least_s = least_s
        self.times_us: dict[Operation, list[float]] = {}
        self._ends_s: list[float] = []

    def add(self, elapsed_ns: dict[Operation, int], now_s: float) -> None:
        """One block of each operation, which ended now."""
        for operation, taken_ns in elapsed_ns.items():
            # A clock may not have moved in so short a time; a level has a logarithm.
            self.times_us.setdefault(operation, []).append(max(taken_ns, 1) / 1000)
        self._ends_s.append(now_s)

    @property
    def is_at_rest(self) -> bool:
        least = self._least_blocks()
        if least is None:
            return False
        return all(
            settled(np.array(times), least=least).start is not None for times in self.times_us.values()
        )

    def _least_blocks(self) -> int | None:
        """Those of the last seconds; None: it has not gone on for so long."""
        within = self._within(self._least_s)
        if within is None:
            return None
        telling = max(slots_to_tell(np.array(times[-within:])) for times in self.times_us.values())
        return self._within(self._least_s * telling / LEAST_SLOTS)

    def _within(self, seconds: float) -> int | None:
        ends = self._ends_s
        if len(ends) < LEAST_SLOTS or ends[-1] - ends[0] < seconds:
            return None
        return max(LEAST_SLOTS, sum(end >= ends[-1] - seconds for end in ends))
