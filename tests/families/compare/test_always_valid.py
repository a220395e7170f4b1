from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from streamgauge.families.compare.always_valid import always_valid_ratio, fewest_rounds_for_a_difference
from streamgauge.families.compare.paired_ratio import paired_ratio
from streamgauge.families.compare.verdict import PairedRatio, Verdict, verdict


def drawn(ratio: float, count: int, seed: int = 1, sigma: float = 0.1) -> PairedRatio:
    rng = np.random.default_rng(seed)
    return of(ratio * rng.lognormal(0, sigma, count), rng.lognormal(0, sigma, count))


def of(a: object, b: object) -> PairedRatio:
    found = always_valid_ratio(a, b)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_there_is_no_ratio_without_pairs() -> None:
    assert always_valid_ratio([], []) is None


def test_a_few_pairs_have_a_median_and_no_interval_yet() -> None:
    few = of([1, 2, 9], [1, 1, 3])
    assert few.median == pytest.approx(2)
    assert (few.interval, few.detectable) == (None, None)
    assert verdict(few, few.p, 5) is Verdict.INCONCLUSIVE


def test_p_is_what_a_bet_against_a_fair_coin_has_won() -> None:
    """2ⁿ · B(k + 2, n − k + 2) / B(2, 2), in whole numbers."""
    below, count = 3, 15
    fact = math.factorial
    beta = Fraction(fact(below + 1) * fact(count - below + 1), fact(count + 3))
    wealth = 2**count * beta / Fraction(1, 6)
    logs = np.concatenate([np.full(below, -0.1), np.full(count - below, 0.2)])
    found = of(np.exp(logs), np.ones(count))
    assert found.p == pytest.approx(1 / float(wealth))


@pytest.mark.parametrize("seed", range(10))
def test_swapping_mirrors_everything(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.lognormal(0.1, 0.3, 40), rng.lognormal(0, 0.3, 40)
    there, back = of(a, b), of(b, a)
    assert there.interval is not None
    assert back.interval == pytest.approx((1 / there.interval[1], 1 / there.interval[0]))
    assert (back.p, back.detectable) == pytest.approx((there.p, there.detectable))


def test_a_wealth_of_twenty_is_reached_by_a_fair_coin_in_less_than_one_of_twenty_worlds() -> None:
    """The promise itself, on the coin itself: at no number of pairs up to 400 is the truth shut out."""
    rng = np.random.default_rng(4)
    worlds, pairs = 2000, 400
    signs = np.where(rng.random((worlds, pairs)) < 0.5, -1.0, 1.0)
    below = np.cumsum(signs < 0, axis=1)
    # The same p for the same counts: each is asked for once.
    looks = range(8, pairs + 1, 8)
    won = {
        (count, k): of(np.exp(np.r_[np.full(k, -0.1), np.full(count - k, 0.1)]), np.ones(count)).p
        for count in looks
        for k in np.unique(below[:, count - 1])
    }
    ever = sum(any((won[count, row[count - 1]] or 0) < 0.05 for count in looks) for row in below)
    assert ever / worlds <= 0.05


def test_what_the_interval_shuts_out_is_what_the_bet_is_won_against() -> None:
    """Interval and p are two views of one thing: they never disagree about a ratio of 1."""
    for seed in range(60):
        found = drawn(1.1, 30, seed)
        assert found.interval is not None
        assert found.p is not None
        assert (found.p <= 0.05) == (not found.interval[0] <= 1 <= found.interval[1])


def test_looking_often_costs_width() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.lognormal(0, 0.1, 60), rng.lognormal(0, 0.1, 60)
    once, always = paired_ratio(a.tolist(), b.tolist()), of(a, b)
    assert once is not None
    assert once.interval is not None
    assert always.interval is not None
    assert once.median == pytest.approx(always.median)
    assert once.interval[1] / once.interval[0] < always.interval[1] / always.interval[0]


def test_more_pairs_make_it_narrower_until_it_is_equivalent() -> None:
    widths = [interval[1] / interval[0] for n in (20, 80, 320, 1280) if (interval := drawn(1.0, n).interval)]
    assert widths == sorted(widths, reverse=True)
    whole = drawn(1.0, 1280)
    assert verdict(whole, whole.p, 5) is Verdict.EQUIVALENT


def test_times_that_never_vary_are_no_trouble() -> None:
    same = of([3.0] * 20, [3.0] * 20)
    assert (same.interval, same.p) == ((1, 1), 1)
    assert verdict(same, same.p, 5) is Verdict.EQUIVALENT
    twice = of([2.0] * 20, [1.0] * 20)
    assert twice.interval == pytest.approx((2, 2))
    assert verdict(twice, twice.p, 5) is Verdict.B_FASTER


def test_how_many_rounds_a_matrix_needs_for_a_difference() -> None:
    for tests in (1, 2, 36, 80):
        needed = fewest_rounds_for_a_difference(tests)
        enough, too_few = (of([2.0] * n, [1.0] * n).p for n in (needed, needed - 1))
        assert enough is not None
        assert too_few is not None
        assert tests * enough < 0.05 <= tests * too_few


def test_what_is_called_detectable_is_found_in_about_four_of_five_runs() -> None:
    typical = np.median([drawn(1.0, 60, seed).detectable for seed in range(60)])
    said = []
    for seed in range(200):
        found = drawn(float(typical), 60, 1000 + seed)
        said.append(verdict(found, found.p, 5))
    assert 0.65 < said.count(Verdict.B_FASTER) / len(said) < 0.95
