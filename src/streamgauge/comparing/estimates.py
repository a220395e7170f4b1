"""A figure of one case, and how sure it is by what its blocks differ by.

Blocks that follow each other may still be alike (a disturbance that is longer than a block), so what they
differ by is widened by how much neighbours agree. A percentile's interval is found in ranks and read off the
values (Woodruff 1952): it needs no law of the latencies, and is as skewed as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from streamgauge.comparing.blocks import Blocks, Floats

_MOST_ALIKE = 0.7
"""Beyond it nothing is known any more: so few blocks would be left."""
_MOST_REACH = 500.0


@dataclass(frozen=True)
class Estimate:
    """Of a figure above 0."""

    value: float
    limits: Callable[[float], tuple[float, float]] | None = None
    """Between which it lies, by this run alone, as surely as asked (0.95); None: one run does not tell."""

    @property
    def log(self) -> float:
        return math.log(self.value)

    def log_spans(self, confidence: float) -> tuple[float, float]:
        """How far it may lie below and above, in logarithms."""
        if self.limits is None:
            return 0.0, 0.0
        low, high = self.limits(confidence)
        return (
            self.log - math.log(low) if low > 0 else math.inf,
            max(0.0, math.log(high) - self.log) if high > 0 else 0.0,
        )


def percentile_estimate(blocks: Blocks, share: float) -> Estimate | None:
    """None: it is not above 0."""
    value = _value_at(blocks, share)
    if value <= 0:
        return None
    below = blocks.counts[:, blocks.values_ns <= value].sum(axis=1)
    expected = blocks.sums * (below.sum() / blocks.sums.sum())
    error, freedom = error_of_mean((below - expected) / blocks.sums.mean())
    on_logit = error / (share * (1 - share))

    def limits(confidence: float) -> tuple[float, float]:
        reach = _t(confidence, freedom) * on_logit
        middle = special.logit(share)
        low, high = (_value_at(blocks, float(special.expit(middle + sign * reach))) for sign in (-1, 1))
        return low, high

    return Estimate(value, limits)


def mean_estimate(blocks: Blocks) -> Estimate | None:
    sums_ns = blocks.counts @ blocks.values_ns
    mean = float(sums_ns.sum() / blocks.sums.sum())
    if mean <= 0:
        return None
    return estimate_about(mean, (sums_ns - mean * blocks.sums) / blocks.sums.mean() / mean)


def rate_estimate(blocks: Blocks, per_s: float) -> Estimate | None:
    """`per_s`: as the report has it; blocks say how sure it is."""
    if per_s <= 0:
        return None
    return estimate_about(per_s, blocks.out_counts / blocks.out_counts.mean() - 1)


def estimate_about(value: float, deviations: Floats) -> Estimate:
    """`deviations`: of blocks or repeats that follow each other, as shares of the value."""
    error, freedom = error_of_mean(deviations)

    def limits(confidence: float) -> tuple[float, float]:
        # A few blocks that have nothing in common say nothing, and not a number too large to be written.
        reach = min(_t(confidence, freedom) * error, _MOST_REACH)
        return value * math.exp(-reach), value * math.exp(reach)

    return Estimate(value, limits)


def error_of_mean(deviations: Floats) -> tuple[float, float]:
    """The standard error of the mean of what follows in time, and its degrees of freedom."""
    count = len(deviations)
    away = deviations - deviations.mean()
    spread = float((away**2).sum())
    if spread == 0:
        return 0.0, count - 1.0
    alike = float((away[1:] * away[:-1]).sum()) / spread
    # It comes out too low by about (1 + 3r)/n; what is below 0 is taken as chance.
    alike = min(_MOST_ALIKE, max(0.0, alike + (1 + 3 * alike) / count))
    widened = (1 + alike) / (1 - alike)
    return math.sqrt(spread / (count - 1) / count * widened), max(2.0, (count - 1) / widened)


def _value_at(blocks: Blocks, share: float) -> float:
    """The value below which that share of all messages is."""
    last = blocks.reached[-1] - 1
    place = int(np.searchsorted(blocks.reached, share * last, side="right"))
    return float(blocks.values_ns[min(place, len(blocks.values_ns) - 1)])


def _t(confidence: float, freedom: float) -> float:
    return float(special.stdtrit(freedom, (1 + confidence) / 2))
