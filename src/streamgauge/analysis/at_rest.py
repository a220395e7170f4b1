"""Was a load at rest? Told from the medians of its seconds, in their order.

The rule is `core/steady_state`'s. A phase of fewer seconds than it needs is looked at for what nobody could
overlook: a slope or a step of half its level. A figure of a load that still warms up, builds a backlog or
swings is exact, and true of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.core import steady_state
from streamgauge.core.steady_state import LEAST_SLOTS, MOST_SLOTS, judged

FEWEST_SECONDS = 5
"""Fewer say nothing of a course."""

CHANGE_SHARE = 0.5
"""A slope counts when it changes the median by this share of it over the whole phase …"""
AGREEMENT = 0.6
"""… and when this much more of all pairs of seconds go that way than the other (Kendall's τ)."""

STEP_FACTOR = 1.5
"""A step counts when one side of it has a median so many times the other's …"""
STEP_EXPLAINS = 0.5
"""… and when it leaves at most this share of the absolute deviations."""

LEAST_MS = 0.05
"""Less than this is the machine's own noise, whatever its share."""

_ABOVE_ZERO_MS = 1e-6
"""The least that a clock of ns can tell: a level has a logarithm."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Unrest:
    """Why a load is not at rest: how far its median moved, and when."""

    before_ms: float
    after_ms: float
    change_second: int | None
    """Of a step: the first second after it, from the first that was measured."""


def unrest(medians_ms: Sequence[float]) -> Unrest | None:
    """None of a load that is at rest, or of too few seconds to tell."""
    values = np.asarray(medians_ms, float)
    if len(values) < FEWEST_SECONDS:
        return None
    if len(values) < LEAST_SLOTS:
        return _step(values) or _slope(values)
    found = judged(np.maximum(values, _ABOVE_ZERO_MS))
    if found.unrest is None:
        return None
    if found.unrest in (steady_state.Unrest.TREND, steady_state.Unrest.STEP):
        at = found.at * -(-len(values) // MOST_SLOTS) if found.at is not None else None
        cut = len(values) // 2 if at is None else at
        return Unrest(float(np.median(values[:cut])), float(np.median(values[cut:])), at)
    low, high = (float(value) for value in np.quantile(values, (0.1, 0.9)))
    return Unrest(low, high, None)


def _slope(values: Floats) -> Unrest | None:
    count, median = len(values), float(np.median(values))
    first, second = np.triu_indices(count, 1)
    differences = values[second] - values[first]
    agreement = abs(float(np.sign(differences).mean()))
    change = float(np.median(differences / (second - first))) * (count - 1)
    if agreement < AGREEMENT or abs(change) < max(CHANGE_SHARE * median, LEAST_MS):
        return None
    return Unrest(median - change / 2, median + change / 2, None)


def _step(values: Floats) -> Unrest | None:
    """The split that explains most; a single slow second at an end is none."""
    count = len(values)
    least = max(2, count // 10)
    whole = _deviation(values)
    splits = range(least, count - least + 1)
    left_over, place = min((_deviation(values[:n]) + _deviation(values[n:]), n) for n in splits)
    before, after = float(np.median(values[:place])), float(np.median(values[place:]))
    low, high = sorted((before, after))
    if left_over > STEP_EXPLAINS * whole or high - low < LEAST_MS or high < STEP_FACTOR * low:
        return None
    return Unrest(before, after, place)


def _deviation(values: Floats) -> float:
    return float(np.abs(values - np.median(values)).sum())
