from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.agents.latency_ring import LatencyRing

from ..core.properties import few_untimed

ROOM = 8
STEPS = st.lists(st.lists(st.integers(0, 10**12), max_size=3 * ROOM) | st.none(), max_size=12)


@given(steps=STEPS)
@few_untimed
def test_what_is_taken_and_what_is_missed_is_all_that_came(steps: list[list[int] | None]) -> None:
    """A batch is added, or (None) all that is there is taken."""
    ring, waiting = LatencyRing(ROOM), list[int]()
    for step in steps:
        if step is None:
            missed_before = ring.missed
            taken = [value for piece in ring.take() for value in piece.tolist()]
            assert taken == waiting[len(waiting) - len(taken) :]
            assert ring.missed - missed_before == len(waiting) - len(taken)
            assert len(taken) == min(len(waiting), ROOM)
            waiting = []
        else:
            ring.add(np.array(step, np.int64))
            waiting += step


@given(
    batches=st.lists(st.lists(st.integers(0, 10**12), max_size=3 * ROOM), max_size=10),
    most=st.integers(1, 20),
)
@few_untimed
def test_the_newest_are_the_newest(batches: list[list[int]], most: int) -> None:
    ring = LatencyRing(ROOM)
    for batch in batches:
        ring.add(np.array(batch, np.int64))
    values = [value for batch in batches for value in batch]
    assert ring.newest(most).tolist() == values[-min(most, ROOM) :]
