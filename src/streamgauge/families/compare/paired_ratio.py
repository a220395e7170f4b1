"""A against B from pairs of repetitions: the ratio, how sure it is, and what follows.

The unit is a repetition, and those of one round are a pair: whatever drifts over a run is in both. All is
computed on logarithms of the pairs' ratios, so that A against B and B against A mirror each other exactly.

The interval is BCa (Efron 1987) for the median of the pairs' ratios. Plain BCa covers too little in small
samples: 87 to 95 of 100 with 6 to 20 pairs. So its tails are widened as Student's t asks for (Hesterberg
2015, "expanded percentiles"): 94 to 98 of 100 then, for even, skewed, heavy-tailed, two-humped and drifting
noise. `python -m bench verdicts` is the proof.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from streamgauge.families.compare.verdict import POWER, SIGNIFICANCE, PairedRatio

FEWEST_PAIRS = 6
"""With fewer no interval of 95% exists, and no test can find anything at 5%."""
_RESAMPLES = 9999
_SEED = 20150430
"""Any: the same each time, so that an analysis done again says the same."""

Floats = NDArray[np.float64]


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> PairedRatio | None:
    """`a` and `b` pair by pair, all above 0; None when there are no pairs."""
    logs = np.log(np.asarray(a, float)) - np.log(np.asarray(b, float))
    if not len(logs):
        return None
    middle = float(np.median(logs))
    if len(logs) < FEWEST_PAIRS:
        return PairedRatio(len(logs), float(np.exp(middle)), None, None, None)
    low, high = _interval(logs)
    error = (high - low) / (2 * stats.norm.ppf(1 - SIGNIFICANCE / 2))
    found = stats.norm.ppf(1 - SIGNIFICANCE / 2) + stats.norm.ppf(POWER)
    return PairedRatio(
        pairs=len(logs),
        median=float(np.exp(middle)),
        interval=(float(np.exp(low)), float(np.exp(high))),
        p=_signed_rank_p(logs),
        detectable=float(np.exp(found * error)),
    )


def fewest_for_a_verdict(tests: int) -> int:
    """Pairs below which not even a clear difference can pass the test, so many being made at once."""
    pairs = FEWEST_PAIRS
    while 2.0 ** (1 - pairs) * tests >= SIGNIFICANCE:
        pairs += 1
    return pairs


def _interval(logs: Floats) -> tuple[float, float]:
    count = len(logs)
    rng = np.random.default_rng(_SEED)
    medians = np.median(logs[rng.integers(0, count, (_RESAMPLES, count))], axis=1)
    observed = np.median(logs)
    below = np.mean(medians < observed) + np.mean(medians == observed) / 2
    bias = stats.norm.ppf(np.clip(below, 1 / _RESAMPLES, 1 - 1 / _RESAMPLES))
    left_out = np.array([np.median(np.delete(logs, n)) for n in range(count)])
    pulls = left_out.mean() - left_out
    spread = float((pulls**2).sum())
    acceleration = float((pulls**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    wide = np.sqrt(count / (count - 1)) * stats.t.ppf(1 - SIGNIFICANCE / 2, count - 1)
    places = [bias + (bias + z) / (1 - acceleration * (bias + z)) for z in (-wide, wide)]
    low, high = np.quantile(medians, stats.norm.cdf(places))
    return float(low), float(high)


def _signed_rank_p(logs: Floats) -> float:
    if not logs.any():
        return 1.0
    return float(stats.wilcoxon(logs).pvalue)
