"""A small version of `python -m bench verdicts`; `make proof` runs it in full length."""

from __future__ import annotations

import pytest
from bench.verdict_trials import (
    LAWS,
    RATIOS,
    SEQUENTIAL_RATIOS,
    drawn_trials,
    sequential_trials,
    simulated_trials,
)

from tests.proof import PROOF

TRIALS = 500 if PROOF else 20


@pytest.mark.proof
@pytest.mark.parametrize("ratio", RATIOS)
def test_simulated_libraries_are_judged_rightly(ratio: float) -> None:
    for tally in simulated_trials(ratio, TRIALS if PROOF else 12, first_seed=round(ratio * 1e6)).values():
        assert tally.coverage >= (0.93 if PROOF else 0.8)
        assert tally.false_verdicts <= (0.05 if PROOF else 0.1)
        if ratio == 2.0:
            assert tally.verdicts["B faster"] == tally.trials


@pytest.mark.proof
@pytest.mark.parametrize("law", LAWS)
def test_whatever_the_noise_the_interval_keeps_its_promise(law: str) -> None:
    tallies = [drawn_trials(LAWS[law], ratio, TRIALS, seed=21) for ratio in RATIOS]
    covered = sum(tally.covered for tally in tallies) / sum(tally.trials for tally in tallies)
    assert covered >= 0.93
    assert tallies[0].false_verdicts <= 0.05
    assert tallies[-1].false_verdicts == 0


@pytest.mark.proof
@pytest.mark.parametrize("law", LAWS)
def test_looking_again_and_again_breaks_no_promise(law: str) -> None:
    tallies = [
        sequential_trials(LAWS[law], ratio, TRIALS if PROOF else 12, seed=21) for ratio in SEQUENTIAL_RATIOS
    ]
    covered = sum(tally.covered for tally in tallies) / sum(tally.trials for tally in tallies)
    assert covered >= (0.93 if PROOF else 0.9)
    assert max(tally.false_verdicts for tally in tallies) <= (0.05 if PROOF else 0.1)
    # A fifth more is found, or the limit was reached: nothing ends for another reason.
    assert all(set(tally.verdicts) <= {"B faster", "inconclusive"} for tally in tallies[2:])
