from __future__ import annotations

import numpy as np
import pytest
from bench.steady import WINDOW_S, looks, steady_part


def progress(rates_per_s: list[float]) -> tuple[list[float], list[int]]:
    times = [k * WINDOW_S for k in range(len(rates_per_s) + 1)]
    counts = np.concatenate([[0], np.cumsum(np.array(rates_per_s) * WINDOW_S)])
    return times, counts.astype(int).tolist()


def test_a_java_that_compiles_first_is_measured_when_it_has() -> None:
    """170k a second at first and 1.3M in the end: over all of it, the rate would be a third lower."""
    found = steady_part(*progress([170e3, 400e3, 800e3, *[1.3e6] * 20]))
    assert found.is_flat
    assert found.begin_s <= 3 * WINDOW_S
    assert found.rate_per_s == pytest.approx(1.3e6, rel=0.03)


def test_a_rate_that_is_flat_from_the_start_counts_whole() -> None:
    found = steady_part(*progress([1e6] * 10))
    assert (found.begin_s, found.end_s, found.count, found.is_flat) == (0.0, 10 * WINDOW_S, 2_500_000, True)


def test_one_slow_window_is_part_of_the_rate() -> None:
    found = steady_part(*progress([1e6] * 5 + [1e5] + [1e6] * 4))
    assert found.is_flat
    assert found.rate_per_s == pytest.approx(0.91e6)


def test_a_rate_that_goes_on_rising_is_said_not_to_be_flat() -> None:
    found = steady_part(*progress([1e5 * 1.3**k for k in range(20)]))
    assert not found.is_flat
    assert found.begin_s == 12 * WINDOW_S


def test_too_short_a_run_has_no_rate() -> None:
    with pytest.raises(RuntimeError, match="raise --scale"):
        steady_part(*progress([1e6] * 3))


def test_progress_is_looked_at_from_the_first_message_on() -> None:
    """A message every ms for 1.1 s, in any order: whole windows only."""
    times, counts = looks(np.random.default_rng(1).permutation(np.arange(1100) * 1_000_000 + 7 * 10**9))
    assert times == [7.0, 7.25, 7.5, 7.75, 8.0]
    assert counts == [1, 251, 501, 751, 1001]
