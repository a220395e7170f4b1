from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.core.steady_state import LEAST_SLOTS, Unrest, in_slots, judged, settled


def noisy(level: float, slots: int, seed: int = 3) -> NDArray[np.float64]:
    return level * np.exp(0.03 * np.random.default_rng(seed).standard_normal(slots))


def test_too_few_slots_say_nothing() -> None:
    few = noisy(1, LEAST_SLOTS - 1)
    assert settled(few).unrest is judged(few).unrest is Unrest.TOO_SHORT


def test_a_single_outlier_is_not_a_level() -> None:
    levels = noisy(1, 40)
    levels[20] = 50
    assert settled(levels).start == 0
    assert judged(levels).start == 0


def test_a_level_that_its_slots_hardly_tell_has_to_last_longer() -> None:
    compiling = np.exp(0.5 * np.random.default_rng(3).standard_normal(60))
    assert settled(compiling[: LEAST_SLOTS + 4]).unrest is Unrest.TOO_SHORT
    assert settled(compiling).start is not None
    assert settled(noisy(1, LEAST_SLOTS)).start == 0


def test_what_is_wrong_is_named_with_its_size() -> None:
    rising = noisy(1, 60) * np.linspace(1, 2, 60)
    found = judged(rising)
    assert found.unrest is Unrest.TREND
    assert found.change == pytest.approx(1, abs=0.3)
    stepped = np.concatenate([noisy(1, 70), noisy(1.5, 20)])
    found = judged(stepped)
    assert found.unrest is Unrest.STEP
    assert found.change == pytest.approx(0.5, abs=0.1)
    assert found.at == pytest.approx(70, abs=2)
    swinging = noisy(1, 80) * (1 + 0.5 * np.sin(np.arange(80) / 2))
    assert judged(swinging).unrest is Unrest.SWING


def test_changes_within_the_tolerance_are_rest() -> None:
    assert judged(np.concatenate([noisy(1, 50), noisy(1.05, 50)])).start == 0


def test_levels_that_do_not_vary_at_all() -> None:
    assert settled(np.full(20, 2.0)).start == 0
    assert judged(np.full(20, 2.0)).start == 0


def test_long_series_are_taken_together() -> None:
    assert len(in_slots(noisy(1, 14_400))) <= 240
    assert len(in_slots(noisy(1, 100))) == 100
