"""`diff` against the truth: runs are drawn whose ratio is known, with noise as real runs have it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from streamgauge.comparing.between_runs import LEARNED_WEIGHT, USUAL_PERCENT, learned_sd, usual_sd
from streamgauge.comparing.blocks import Blocks
from streamgauge.comparing.estimates import Estimate, mean_estimate, percentile_estimate
from streamgauge.comparing.ratio import Ratio, ratio_of
from tests.proof import PROOF

from .drawn_runs import CALM, EVEN, RESTLESS, Noise, drawn_blocks

RATIOS = (1.0, 1.05, 1.2, 2.0)
FIGURES: dict[str, Callable[[Blocks], Estimate | None]] = {
    "p50": lambda blocks: percentile_estimate(blocks, 0.5),
    "p99": lambda blocks: percentile_estimate(blocks, 0.99),
    "mean": mean_estimate,
}
TRIALS = 500 if PROOF else 15
"""Of each ratio. Few trials may come out worse by chance alone: three standard deviations are allowed."""
CHANCE = 0.0 if PROOF else 3.0


def trials(true_ratio: float, noise: Noise, sd: float, repeats: int = 1) -> dict[str, list[Ratio]]:
    rng = np.random.default_rng((round(1000 * true_ratio), round(1000 * noise.wander), repeats))
    found: dict[str, list[Ratio]] = {name: [] for name in FIGURES}
    for _ in range(TRIALS):
        sides = [[drawn_blocks(rng, of, noise) for _ in range(repeats)] for of in (1.0, true_ratio)]
        for name, figure in FIGURES.items():
            base, new = ([each for blocks in side if (each := figure(blocks))] for side in sides)
            found[name].append(ratio_of(base, new, sd))
    return found


def coverage(found: list[Ratio], true_ratio: float) -> float:
    return sum(
        each.interval is not None and each.interval[0] <= true_ratio <= each.interval[1] for each in found
    ) / len(found)


def false_verdicts(found: list[Ratio], true_ratio: float) -> float:
    """Of a difference where there is none, or of the wrong side."""
    called = [each for each in found if each.p is not None and each.p < 0.05]
    wrong = [each for each in called if true_ratio == 1 or each.ratio < 1]
    return len(wrong) / len(found)


def least(share: float) -> float:
    return share - CHANCE * math.sqrt(share * (1 - share) / TRIALS)


def most(share: float) -> float:
    return share + CHANCE * math.sqrt(share * (1 - share) / TRIALS)


@pytest.mark.proof
@pytest.mark.parametrize("true_ratio", RATIOS)
@pytest.mark.parametrize("noise", [CALM, RESTLESS, EVEN], ids=["calm", "restless", "even"])
def test_blocks_alone_cover_the_truth(noise: Noise, true_ratio: float) -> None:
    """Runs that differ by nothing but their own noise: what blocks say has to be enough."""
    for name, found in trials(true_ratio, noise, sd=0.0).items():
        assert coverage(found, true_ratio) >= least(0.93), name
        # One in sixteen there, and that is why no pair is judged by blocks alone: see the next test.
        if noise is not RESTLESS or name != "p99":
            assert false_verdicts(found, true_ratio) <= most(0.05), name


@pytest.mark.proof
@pytest.mark.parametrize("true_ratio", RATIOS)
@pytest.mark.parametrize("between", [0.0, 0.03], ids=["one level", "levels of their own"])
def test_the_most_restless_law_is_covered_as_pairs_are_judged(between: float, true_ratio: float) -> None:
    """`diff` adds what runs are apart by to what blocks say, and twice that in tails."""
    noise = replace(RESTLESS, between=between)
    p99 = trials(true_ratio, noise, usual_sd(0.99))["p99"]
    assert coverage(p99, true_ratio) >= least(0.93)
    assert false_verdicts(p99, true_ratio) <= most(0.05)


@pytest.mark.proof
@pytest.mark.parametrize("true_ratio", RATIOS)
@pytest.mark.parametrize("repeats", [1, 3])
def test_runs_with_a_level_of_their_own_are_covered_too(repeats: int, true_ratio: float) -> None:
    noise = Noise(between=0.03)
    for name, found in trials(true_ratio, noise, USUAL_PERCENT / 100, repeats).items():
        assert coverage(found, true_ratio) >= least(0.93), name
        assert false_verdicts(found, true_ratio) <= most(0.05), name
        if true_ratio == 2.0:
            assert all(each.p is not None and each.p < 0.05 for each in found), "twice is always seen"


@pytest.mark.proof
@pytest.mark.parametrize("true_ratio", RATIOS)
@pytest.mark.parametrize("between", [0.01, 0.1], ids=["quiet machine", "noisy machine"])
def test_what_earlier_runs_were_apart_by_covers_single_runs(between: float, true_ratio: float) -> None:
    """Twelve runs before, of which two levels differ: a machine that is noisier than the usual is known."""
    rng = np.random.default_rng((round(1000 * between), round(1000 * true_ratio)))
    noise = Noise(between=between)
    found: dict[str, list[Ratio]] = {name: [] for name in FIGURES}
    for _ in range(TRIALS):
        earlier = np.exp(rng.normal(0.0, between, 12))
        earlier[6:] *= 1.5
        learned = learned_sd(list(earlier), USUAL_PERCENT / 100)
        sides = [drawn_blocks(rng, of, noise) for of in (1.0, true_ratio)]
        for name, figure in FIGURES.items():
            base, new = ([each] for blocks in sides if (each := figure(blocks)))
            found[name].append(ratio_of(base, new, learned, weight=LEARNED_WEIGHT))
    for name, trial in found.items():
        assert coverage(trial, true_ratio) >= least(0.93), name
        assert false_verdicts(trial, true_ratio) <= most(0.05), name


def estimates(*values: float, error: float = 0.01) -> list[Estimate]:
    """Each as sure as that."""

    def of(value: float) -> Estimate:
        return Estimate(value, lambda _: (value * math.exp(-2 * error), value * math.exp(2 * error)))

    return [of(value) for value in values]


def test_swapping_sides_turns_everything_round() -> None:
    one, other = estimates(1.0, 1.1), estimates(1.4, 1.5, 1.45)
    there, back = ratio_of(one, other, 0.03), ratio_of(other, one, 0.03)
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.p == pytest.approx(back.p)
    assert there.interval is not None
    assert back.interval is not None
    assert there.interval == pytest.approx((1 / back.interval[1], 1 / back.interval[0]))


def test_a_run_against_itself_is_no_difference() -> None:
    found = ratio_of(estimates(3.0), estimates(3.0), 0.03)
    assert (found.ratio, found.p) == (1.0, pytest.approx(1.0))


def test_single_runs_are_not_called_different_for_a_few_per_cent() -> None:
    exact = ratio_of(estimates(1.0, error=0.0), estimates(1.05, error=0.0), 0.03)
    assert exact.p is not None
    assert exact.p > 0.05
    repeated = ratio_of(estimates(*[1.0] * 12, error=0.0), estimates(*[1.05] * 12, error=0.0), 0.03)
    assert repeated.p is not None
    assert repeated.p < 0.05, "so many repeats that agree say more than what is usual"


def test_repeats_that_disagree_make_it_less_sure() -> None:
    agree = ratio_of(estimates(1.0, 1.0, 1.0), estimates(1.3, 1.3, 1.3), 0.03)
    disagree = ratio_of(estimates(0.7, 1.0, 1.4), estimates(1.0, 1.3, 1.7), 0.03)
    assert agree.p is not None
    assert disagree.p is not None
    assert agree.p < 0.01
    assert disagree.p > 0.05


def test_a_figure_of_which_a_run_does_not_say_how_sure_it_is_needs_repeats() -> None:
    bare = [Estimate(1.0), Estimate(1.01)]
    assert ratio_of(bare[:1], [Estimate(2.0)], 0.03).interval is None
    found = ratio_of(bare, [Estimate(2.0), Estimate(2.02)], 0.03)
    assert found.interval is not None
    assert found.interval[0] > 1.5


def test_an_end_that_is_not_known_is_open() -> None:
    unsure = [Estimate(1.0, lambda _: (0.0, 2.0))]
    found = ratio_of(unsure, estimates(1.0), 0.03)
    assert found.interval is not None
    assert found.interval[1] == math.inf
    assert found.interval[0] > 0
