from __future__ import annotations

import time

import numpy as np

from streamgauge.agents.latency_ring import LatencyRing
from streamgauge.agents.rendezvous import Levels
from streamgauge.agents.warming_up import WarmingUp
from streamgauge.core.clock import now_ns
from streamgauge.core.steady_state import SLOT_NS


def until(told: list[Levels], slots: int) -> None:
    deadline_s = time.monotonic() + 20
    while not told or len(told[-1]) < slots:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_each_slot_has_its_median_and_the_cpu_used_so_far() -> None:
    ring, told = LatencyRing(1000), []
    warming_up = WarmingUp([ring], lambda levels: told.append(list(levels)), 10)
    # Slots that are over already: their turn comes at once.
    ring.add(np.array([1, 2, 9], np.int64))
    warming_up.start(now_ns() - 4 * SLOT_NS)
    until(told, 4)
    warming_up.stop()
    first, second = told[-1][:2]
    assert first[:2] == (3, 2.0)
    assert second[:2] == (0, None)
    cpu = [level[2] for level in told[-1]]
    assert cpu == sorted(cpu)
    assert warming_up.cpu_s_at(2) == cpu[1]
    assert warming_up.cpu_s_at(0) == cpu[0]


def test_messages_of_a_slot_are_those_that_were_counted() -> None:
    told: list[Levels] = []
    counts = iter([100, 250, 250, 400])
    warming_up = WarmingUp([], lambda levels: told.append(list(levels)), 10, lambda: next(counts, 400))
    warming_up.start(now_ns() - 4 * SLOT_NS)
    until(told, 4)
    warming_up.stop()
    assert [level[0] for level in told[-1][:4]] == [100, 150, 0, 150]


def test_an_agent_that_ends_before_the_first_slot_has_told_nothing() -> None:
    told: list[Levels] = []
    warming_up = WarmingUp([], told.append, 10)
    warming_up.start(now_ns() + 100 * SLOT_NS)
    warming_up.stop()
    assert told == []
    assert warming_up.cpu_s_at(3) > 0


def test_a_long_load_is_not_told_of_for_ever() -> None:
    told: list[Levels] = []
    warming_up = WarmingUp([], lambda levels: told.append(list(levels)), limit_s=1)
    warming_up.start(now_ns() - 100 * SLOT_NS)
    until(told, 8)
    warming_up.stop()
    assert len(told[-1]) == 8
