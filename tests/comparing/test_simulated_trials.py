"""`diff` against the truth from end to end: runs of simulated brokers whose true ratio is known are measured,
analysed, matched and judged as any two runs are, with validity, and Holm's correction over all of a pair."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import CaseDifference, DiffVerdict, MetricDifference, SpreadSource
from streamgauge.comparing.measured import MeasuredRun, measured_run
from tests.proof import PROOF

from .simulated_pairs import of_laws

RATIOS = (1.0, 1.05, 1.2, 2.0)
TRIALS = 500 if PROOF else 10
"""Of each ratio. Of few, chance alone may make more come out worse: three standard deviations are allowed."""
CHANCE = 0.0 if PROOF else 3.0
A_RUN = min(TRIALS, 20)
"""Trials are cases of two runs, so that not every one of them needs a plan and an analysis of its own."""
LOAD: dict[str, Any] = {"messages": 1600, "rate": 320}
MEDIAN_MS = 0.2
"""Far below the time between two messages: they come in order, and none waits for another."""
BETWEEN = 0.03
"""SD of the levels of runs: what is usual, and so what is assumed where nothing else is known."""
LATENCIES = {"p50", "p90", "p99", "mean"}
_CALLED = (DiffVerdict.FASTER, DiffVerdict.SLOWER)


@dataclass(frozen=True)
class Trial:
    """A pair of which it is known how much slower the new one is."""

    case: CaseDifference

    @property
    def metrics(self) -> dict[str, MetricDifference]:
        return {each.metric: each for each in self.case.metrics}

    def is_wrong(self, true_ratio: float) -> bool:
        """A difference is called where there is none, or to the wrong side. Rates are the schedule's."""
        right = DiffVerdict.SLOWER if true_ratio > 1 else None
        return any(
            each.verdict in _CALLED and not (name in LATENCIES and each.verdict is right)
            for name, each in self.metrics.items()
        )


def laws(rng: np.random.Generator, median_ms: float) -> dict[str, Any]:
    """Latencies scatter about a level that goes up and down a little, and each run has a level of its own."""
    sway = {"shape": "oscillation", "times": rng.uniform(0, 0.05), "for": rng.uniform(0.3, 2)}
    level_ms = median_ms * math.exp(rng.normal(0, BETWEEN))
    return {
        "seed": int(rng.integers(1 << 31)),
        "latency": {"law": "lognormal", "median_ms": level_ms, "sigma": rng.uniform(0.2, 0.5)},
        "transients": [sway],
    }


def pairs_of(rng: np.random.Generator, true_ratio: float, count: int) -> list[list[dict[str, Any]]]:
    """Base and new; a pair differs in its level alone, so its scatter is the same on both sides."""
    sides: list[list[dict[str, Any]]] = [[], []]
    for _ in range(count):
        base, new = laws(rng, MEDIAN_MS), laws(rng, MEDIAN_MS * true_ratio)
        new["latency"]["sigma"] = base["latency"]["sigma"]
        sides[0].append(base)
        sides[1].append(new)
    return sides


def trials(folder: Path, true_ratio: float) -> list[Trial]:
    rng = np.random.default_rng((43, round(1000 * true_ratio)))
    found: list[Trial] = []
    while len(found) < TRIALS:
        sides = pairs_of(rng, true_ratio, A_RUN)
        names = [f"{len(found)}-{side}" for side in ("base", "new")]
        found += judged(
            *(of_laws(folder / name, side, **LOAD) for name, side in zip(names, sides, strict=True))
        )
    return found[:TRIALS]


def judged(*runs: Any) -> list[Trial]:
    """Case by case, as if each were the only one of its run."""
    base, new = (measured_run(run) for run in runs)
    # As a report leaves it: runs beside the base are asked for what they are apart by.
    base.run.write_text(base.run.results_document, base.document.model_dump_json())
    found = []
    for number in range(len(base.parts)):
        document = diff_document([alone(base, number)], [[alone(new, number)]])
        assert document.between_runs_from is SpreadSource.USUAL
        [difference] = document.differences
        assert (difference.only_base, difference.only_new, difference.settings) == ([], [], [])
        [case] = difference.cases
        assert case.base.cases == [f"{base.id}/{base.parts[number].case}"]
        found.append(Trial(case))
    return found


def alone(run: MeasuredRun, number: int) -> MeasuredRun:
    return replace(run, parts=[run.parts[number]])


def allowed(share: float, count: int) -> float:
    return CHANCE * math.sqrt(share * (1 - share) / count)


@pytest.mark.proof
@pytest.mark.parametrize("true_ratio", RATIOS)
def test_intervals_hold_the_truth_and_verdicts_are_seldom_wrong(tmp_path: Path, true_ratio: float) -> None:
    found = trials(tmp_path, true_ratio)
    wrong = sum(trial.is_wrong(true_ratio) for trial in found) / TRIALS
    assert wrong <= 0.05 + allowed(0.05, TRIALS)
    compared: Counter[str] = Counter()
    covered: Counter[str] = Counter()
    for trial in found:
        for name, each in trial.metrics.items():
            truth = true_ratio if name in LATENCIES else 1.0
            if each.interval is not None:
                low, high = each.interval
                compared[name] += 1
                covered[name] += low <= truth <= (math.inf if high is None else high)
    assert set(compared) == LATENCIES | {"rate"}, "a p99.9 has too few messages"
    for name, count in compared.items():
        assert count >= 0.95 * TRIALS, f"{name}: what is at rest is compared"
        assert covered[name] / count >= 0.93 - allowed(0.93, count), name
    if true_ratio == 2.0:
        seen = sum(trial.metrics["p50"].verdict is DiffVerdict.SLOWER for trial in found)
        assert seen >= 0.95 * TRIALS, "twice is seen"


def test_of_a_pair_that_was_never_at_rest_nothing_is_called(tmp_path: Path) -> None:
    """However far apart it is: one side goes up without end."""
    rng = np.random.default_rng(7)
    base, new = ([laws(rng, median_ms)] for median_ms in (MEDIAN_MS, 4 * MEDIAN_MS))
    new[0]["transients"] = [{"shape": "ramp", "times": 0.5}]
    [trial] = judged(*(of_laws(tmp_path / str(n), side, **LOAD) for n, side in enumerate((base, new))))
    assert {each.verdict for each in trial.case.metrics} == {DiffVerdict.NOT_COMPARABLE}
    assert all(each.ratio is None for each in trial.case.metrics)
