from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from streamgauge.core.steady_state import SLOT_S
from streamgauge.launch.levels import SystemCpu, levels_of


def test_cpu_of_a_process_is_told_by_slots() -> None:
    systems = SystemCpu({"us": os.getpid()})
    used = []
    for second in range(3):
        before = time.process_time()
        while time.process_time() - before < 0.05:
            pass
        used.append(time.process_time())
        systems.look(float(second))
    found = systems.used_s(9)
    assert found is not None
    assert found[[0, 4, 8]] == pytest.approx(used, abs=0.02)
    assert SystemCpu({}).used_s(3) is None


def test_a_process_that_is_gone_uses_no_more() -> None:
    systems = SystemCpu({"gone": 2**22 + 1})
    systems.look(0.0)
    systems.look(1.0)
    assert systems.used_s(2) == pytest.approx([0.0, 0.0])


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], SystemCpu]:
    """A machine of two cores that is idle for this share of them, looked at for eight seconds."""

    def look(share: float) -> SystemCpu:
        systems, idle = SystemCpu({}), SimpleNamespace(idle=0.0, iowait=0.0)
        monkeypatch.setattr(psutil, "cpu_times", lambda: idle)
        monkeypatch.setattr(psutil, "cpu_count", lambda: 2)
        for number in range(33):
            systems.look(number * SLOT_S)
            idle.idle += 2 * share * SLOT_S
        return systems

    return look


def test_whether_a_machine_has_cpu_to_spare(looked: Callable[[float], SystemCpu]) -> None:
    assert looked(0.3).is_left(16)
    assert not looked(0.02).is_left(16)
    assert SystemCpu({}).is_left(16), "nobody has looked yet"


def test_levels_of_several_agents_are_of_the_slots_that_all_told_of() -> None:
    consumer: list[list[float | None]] = [[100, 2e6, 0.1 * slot] for slot in range(6)]
    producer: list[list[float | None]] = [[0, None, 0.2 * slot] for slot in range(5)]
    found = levels_of([consumer, producer], np.linspace(0.0, 1.0, 5))
    assert found.latency_ms == pytest.approx([2.0] * 5)
    assert found.agents_cores == pytest.approx([0.3 / SLOT_S] * 5)
    assert found.systems_cores == pytest.approx([1.0] * 5)
    kept = found.kept()
    assert kept.slot_s == SLOT_S
    assert kept.agents_cores == [1.2] * 5


def test_medians_below_zero_are_no_level() -> None:
    """They were a flat 1 ms, at rest from the first slot on."""
    wrong: list[list[float | None]] = [[100, -3e6 * slot - 1, 0.1 * slot] for slot in range(6)]
    right: list[list[float | None]] = [[100, 2e6, 0.1 * slot] for slot in range(6)]
    assert levels_of([wrong], None).latency_ms is None
    assert levels_of([wrong, right], None).latency_ms == pytest.approx([2.0] * 6)
    assert levels_of([wrong], None, by_rate=True).rate_per_s == pytest.approx([100 / SLOT_S] * 6)


def test_slots_of_a_slow_load_are_looked_at_together() -> None:
    """A message in every fourth slot: none of its levels is made up."""
    rows: list[list[float | None]] = [
        [10, 3e6, 0.1 * slot] if slot % 4 == 1 else [0, None, 0.1 * slot] for slot in range(10)
    ]
    assert levels_of([rows], None).latency_ms is None
    found = levels_of([rows], np.linspace(0.0, 0.9, 10), 4)
    assert found.latency_ms == pytest.approx([3.0] * 2)
    assert found.agents_cores == pytest.approx([0.1 / SLOT_S] * 2)
    assert found.systems_cores == pytest.approx([0.1 / SLOT_S] * 2)
    assert found.kept().slot_s == 4 * SLOT_S
