from __future__ import annotations

import numpy as np
import pytest

from streamgauge.families.compare.paired_ratio import FEWEST_PAIRS, fewest_for_a_verdict, paired_ratio
from streamgauge.families.compare.verdict import Verdict, verdict


def drawn(
    ratio: float, count: int = 20, seed: int = 1, sigma: float = 0.1
) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    return (ratio * rng.lognormal(0, sigma, count)).tolist(), rng.lognormal(0, sigma, count).tolist()


def test_the_median_is_that_of_the_pairs_ratios() -> None:
    ratio = paired_ratio([1, 2, 9], [1, 1, 3])
    assert ratio is not None
    assert (ratio.pairs, ratio.median) == (3, pytest.approx(2))


def test_there_is_no_ratio_without_pairs() -> None:
    assert paired_ratio([], []) is None


def test_too_few_pairs_have_no_interval_and_no_test() -> None:
    few = paired_ratio(*drawn(2.0, FEWEST_PAIRS - 1))
    enough = paired_ratio(*drawn(2.0, FEWEST_PAIRS))
    assert few is not None
    assert (few.interval, few.p, few.detectable) == (None, None, None)
    assert verdict(few, None, 5) == "inconclusive"
    assert enough is not None
    assert enough.interval is not None
    assert enough.p == pytest.approx(2.0 ** (1 - FEWEST_PAIRS))


def test_an_analysis_done_again_says_the_same() -> None:
    assert paired_ratio(*drawn(1.1)) == paired_ratio(*drawn(1.1))


@pytest.mark.parametrize("seed", range(20))
def test_swapping_mirrors_everything(seed: int) -> None:
    a, b = drawn(1.1, seed=seed, sigma=0.3)
    there, back = paired_ratio(a, b), paired_ratio(b, a)
    assert there is not None
    assert back is not None
    assert there.interval is not None
    assert back.interval is not None
    assert back.median == pytest.approx(1 / there.median)
    assert back.interval == pytest.approx((1 / there.interval[1], 1 / there.interval[0]))
    assert back.p == pytest.approx(there.p)
    mirrored = {"A faster": "B faster", "B faster": "A faster"}
    one, other = verdict(there, there.p, 5), verdict(back, back.p, 5)
    assert other == mirrored.get(one, one)


def test_a_drift_that_both_share_is_in_neither() -> None:
    a, b = drawn(1.2)
    drift = np.linspace(1, 50, 20)
    still, drifting = paired_ratio(a, b), paired_ratio(a * drift, b * drift)
    assert still is not None
    assert drifting is not None
    assert drifting.median == pytest.approx(still.median)
    assert drifting.interval == pytest.approx(still.interval)


def test_times_that_never_vary_are_no_trouble() -> None:
    same = paired_ratio([3.0] * 20, [3.0] * 20)
    assert same is not None
    assert (same.interval, same.p) == ((1, 1), 1)
    twice = paired_ratio([2.0] * 20, [1.0] * 20)
    assert twice is not None
    assert twice.interval == pytest.approx((2, 2))
    assert verdict(twice, twice.p, 5) == "B faster"


def test_one_outlier_moves_the_ratio_little_and_is_not_dropped() -> None:
    a, b = drawn(1.0)
    clean = paired_ratio(a, b)
    a[7] *= 1000
    spoiled = paired_ratio(a, b)
    assert clean is not None
    assert spoiled is not None
    assert spoiled.pairs == 20
    assert spoiled.median == pytest.approx(clean.median, rel=0.05)


def test_how_many_pairs_a_matrix_needs() -> None:
    # Signs alone: 2 · 2⁻ⁿ · tests has to be below 5%.
    assert [fewest_for_a_verdict(tests) for tests in (1, 2, 36, 80)] == [6, 7, 11, 12]


def test_what_is_called_detectable_is_found_in_about_four_of_five_runs() -> None:
    typical = np.median([paired_ratio(*drawn(1.0, seed=s)).detectable for s in range(60)])  # type: ignore[union-attr]
    said = []
    for seed in range(200):
        ratio = paired_ratio(*drawn(float(typical), seed=1000 + seed))
        assert ratio is not None
        said.append(verdict(ratio, ratio.p, 5))
    assert 0.7 < said.count(Verdict.B_FASTER) / len(said) < 0.95
