from __future__ import annotations

import numpy as np
import pytest

from streamgauge.comparing.history import FEWEST_RUNS, cuts
from tests.proof import PROOF

SERIES = 400 if PROOF else 60


def drawn(rng: np.random.Generator, *levels: tuple[float, int], sd: float = 0.03) -> list[float]:
    return [level * float(np.exp(rng.normal(0, sd))) for level, count in levels for _ in range(count)]


def test_a_step_is_found_where_it_is_with_its_levels() -> None:
    [cut] = cuts(drawn(np.random.default_rng(1), (1.0, 8), (1.2, 7)))
    assert cut.at == 8
    assert (cut.before, cut.after) == (pytest.approx(1, rel=0.03), pytest.approx(1.2, rel=0.03))
    assert cut.p < 0.01


def test_several_steps_are_found() -> None:
    found = cuts(drawn(np.random.default_rng(2), (1.0, 12), (1.5, 12), (0.8, 12)))
    assert [cut.at for cut in found] == [12, 24]


@pytest.mark.proof
def test_a_level_that_does_not_change_is_hardly_ever_cut() -> None:
    rng = np.random.default_rng(3)
    false = sum(bool(cuts(drawn(rng, (1.0, 20), sd=0.1))) for _ in range(SERIES))
    assert false <= 0.03 * SERIES


def test_one_run_that_is_far_off_is_no_level() -> None:
    values = drawn(np.random.default_rng(4), (1.0, 20))
    values[9] = 5.0
    assert cuts(values) == []


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 30, [1.0, 2.0] * 4 + [1.0]])
def test_too_few_and_all_the_same_have_no_cut(values: list[float]) -> None:
    assert len(values) < FEWEST_RUNS or len(set(values)) == 1
    assert cuts(values) == []


def test_the_same_series_says_the_same_each_time() -> None:
    values = drawn(np.random.default_rng(5), (1.0, 6), (1.3, 6))
    assert cuts(values) == cuts(values)
