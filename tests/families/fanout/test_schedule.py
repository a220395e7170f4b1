from __future__ import annotations

import numpy as np
import pytest

from streamgauge.core.steady_state import SLOT_NS
from streamgauge.families.fanout.schedule import Schedule

S = 10**9
SCHEDULE = Schedule(start_ns=5 * S, rate_per_s=100.0, warm_up_count=10, measured_count=90)


def test_a_message_is_known_by_its_time() -> None:
    odd = Schedule(start_ns=3, rate_per_s=7.0, warm_up_count=0, measured_count=1000)
    due = np.array([odd.due_ns(number) for number in range(1000)])
    assert odd.numbers_at(due).tolist() == list(range(1000))
    assert odd.latencies_ns(np.arange(1000), due + 17).tolist() == [17] * 1000
    assert (odd.numbers_at(np.array([odd.due_ns(1000), odd.due_ns(-1)])) < 0).all()


def test_wall_clocks_may_be_half_a_pause_apart() -> None:
    due = np.array([SCHEDULE.due_ns(number) for number in range(100)])
    for apart_ns in (-4_000_000, -1, 1, 4_000_000):
        assert SCHEDULE.numbers_at(due + apart_ns).tolist() == list(range(100))


@pytest.mark.parametrize("rate_per_s", [0.5, 4.0, 7.0, 100.0, 1000 / 3])
def test_measuring_begins_with_the_first_message_of_a_slot(rate_per_s: float) -> None:
    planned = Schedule(start_ns=3, rate_per_s=rate_per_s, warm_up_count=None, measured_count=50)
    assert planned.message_count is None
    for slot in range(200):
        known = planned.since_slot(slot)
        first = known.warm_up_count
        assert first is not None
        assert known.slot == slot
        assert known.message_count == first + 50
        assert known.due_ns(first) >= 3 + slot * SLOT_NS
        assert first == 0 or known.due_ns(first - 1) < 3 + slot * SLOT_NS


def test_what_was_said_may_be_taken_back() -> None:
    assert SCHEDULE.since_slot(8).since_slot(None).message_count is None
