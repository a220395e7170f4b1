"""How many times the base the new is, from what was seen in one run or several of each.

Two things make it unsure: what a run's own blocks differ by, and what runs of the same differ by. The second
is learned from repeats. Where there are few or none, it is taken to be what runs are usually apart by, which
weighs as much as some repeats and gives way to real ones (a moderated variance, Smyth 2004). So two single
runs are never called different because of a few per cent, however exact each of them is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy import special

from streamgauge.comparing.estimates import Estimate

CONFIDENCE = 0.95
USUAL_WEIGHT = 10
"""Where nothing is known of the machine."""
FEWEST_REPEATS = 2
"""Of both sides, beyond the first of each: for a figure of which one run does not say how sure it is."""
_LEAST_P = 1e-6
_HALVINGS = 24


@dataclass(frozen=True)
class Ratio:
    base: float
    new: float
    ratio: float
    interval: tuple[float, float] | None
    """As sure as was asked; None: nothing tells."""
    p: float | None
    """The chance of so much difference where there is none, not corrected."""


def ratio_of(
    base: Sequence[Estimate],
    new: Sequence[Estimate],
    usual_sd: float,
    confidence: float = CONFIDENCE,
    weight: int = USUAL_WEIGHT,
) -> Ratio:
    """`usual_sd`: what runs of the same are usually apart by, as a share (standard deviation); `weight`: it
    counts as if so many repeats had shown it."""
    both = (base, new)
    means = [math.fsum(each.log for each in side) / len(side) for side in both]
    difference = means[1] - means[0]
    figures = math.exp(means[0]), math.exp(means[1]), math.exp(difference)
    is_told = all(each.limits is not None for side in both for each in side)
    if not is_told and sum(map(len, both)) - len(both) < FEWEST_REPEATS:
        return Ratio(*figures, None, None)
    variance, freedom = _between(both, means, usual_sd if is_told else None, weight)

    def spans(asked: float) -> tuple[float, float]:
        """How far below and above the difference may be."""
        reach = (
            special.stdtrit(freedom, (1 + asked) / 2) ** 2 * variance * sum(1 / len(side) for side in both)
        )
        (base_below, base_above), (new_below, new_above) = (_within(side, asked) for side in both)
        return (
            math.sqrt(reach + new_below**2 + base_above**2),
            math.sqrt(reach + new_above**2 + base_below**2),
        )

    below, above = spans(confidence)
    interval = math.exp(difference - below), _exp(difference + above)
    return Ratio(*figures, interval, _chance(difference, spans))


def _within(side: Sequence[Estimate], confidence: float) -> tuple[float, float]:
    """What the side's own blocks leave open, of the mean of its repeats."""
    found = [each.log_spans(confidence) for each in side]
    below, above = (math.sqrt(math.fsum(span**2 for span in spans)) for spans in zip(*found, strict=True))
    return below / len(side), above / len(side)


def _between(
    both: tuple[Sequence[Estimate], ...], means: Sequence[float], usual_sd: float | None, weight: int
) -> tuple[float, float]:
    """The variance of what runs of the same differ by, beyond what their blocks say, and its freedom."""
    apart = math.fsum((each.log - mean) ** 2 for side, mean in zip(both, means, strict=True) for each in side)
    freedom = sum(map(len, both)) - len(both)
    if usual_sd is None:
        return apart / freedom, freedom
    one_sd = math.erf(math.sqrt(0.5))
    own = [sum(each.log_spans(one_sd)) / 2 for side in both for each in side]
    inside = math.fsum(span**2 for span in own) / len(own)
    seen = max(0.0, apart - freedom * inside)
    return (weight * usual_sd**2 + seen) / (weight + freedom), weight + freedom


def _chance(difference: float, spans: Callable[[float], tuple[float, float]]) -> float:
    """The p at which the interval would just reach no difference."""

    def excludes(p: float) -> bool:
        below, above = spans(1 - p)
        return bool(difference > below or difference < -above)

    if excludes(_LEAST_P):
        return _LEAST_P
    low, high = math.log(_LEAST_P), 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if excludes(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _exp(log: float) -> float:
    return math.exp(log) if log < 700 else math.inf
