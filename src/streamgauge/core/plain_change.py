"""A change of a few seconds: a slope or a step of half the level, which nobody could overlook, or a trend of
their slots.

So few seconds have no statistics that would tell a trend of 10% from chance (`core/steady_state` needs
sixteen); forty slots of a quarter of a second each have. The rule is looked at twice: while a load warms up,
of what would be measured, so that measuring begins after the change; and of what was measured, whose figures
are then not valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.steady_state import TREND_P, drift

CHANGE_SHARE = 0.5
"""A slope counts when it changes the median by this share of it over the whole series …"""
AGREEMENT = 0.6
"""… and when this much more of all pairs of values go that way than the other (Kendall's τ)."""

STEP_FACTOR = 1.5
"""A step counts when one side of it has a median so many times the other's …"""
STEP_EXPLAINS = 0.5
"""… and when it leaves at most this share of the absolute deviations."""

LEAST_MS = 0.05
"""Less than this is the machine's own noise, whatever its share."""
FEWEST = 4
"""Seconds; of fewer even this cannot be told."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """How far the median of a second moved, and when."""

    before_ms: float
    after_ms: float
    second: int | None
    """Of a step: the first second after it."""


def plain_change(
    medians_ms: Floats, slots_ms: Floats | None = None, *, most_chance: float = TREND_P
) -> Change | None:
    """Of the medians of some seconds in their order; None: there is none, or they are too few to tell.
    `slots_ms`: medians of shorter slots of the same time, where they are known, which have a trend if it is
    chance with `most_chance` at most."""
    if len(medians_ms) < FEWEST:
        return None
    found = _step(medians_ms) or _slope(medians_ms)
    return found if found is not None or slots_ms is None else _trend(slots_ms, most_chance)


def _slope(values: Floats) -> Change | None:
    """Told by the medians of its halves: a line's own ends may lie below zero, where no latency is."""
    count, median = len(values), float(np.median(values))
    first, second = np.triu_indices(count, 1)
    differences = values[second] - values[first]
    agreement = abs(float(np.sign(differences).mean()))
    change = float(np.median(differences / (second - first))) * (count - 1)
    if agreement < AGREEMENT or abs(change) < max(CHANGE_SHARE * median, LEAST_MS):
        return None
    half = count // 2
    return Change(float(np.median(values[:half])), float(np.median(values[-half:])), None)


def _trend(slots_ms: Floats, most_chance: float) -> Change | None:
    """What is no more than the machine's own noise is left out, as of a step."""
    change = drift(slots_ms, most_chance=most_chance)
    if change == 0 or abs(change) * float(np.median(slots_ms)) < LEAST_MS:
        return None
    half = len(slots_ms) // 2
    return Change(float(np.median(slots_ms[:half])), float(np.median(slots_ms[half:])), None)


def _step(values: Floats) -> Change | None:
    """The split that explains most; a single slow value at an end is none."""
    count = len(values)
    fewest = max(2, count // 10)
    whole = _deviation(values)
    splits = range(fewest, count - fewest + 1)
    left_over, place = min((_deviation(values[:n]) + _deviation(values[n:]), n) for n in splits)
    before, after = float(np.median(values[:place])), float(np.median(values[place:]))
    low, high = sorted((before, after))
    if left_over > STEP_EXPLAINS * whole or high - low < LEAST_MS or high < STEP_FACTOR * low:
        return None
    return Change(before, after, place)


def _deviation(values: Floats) -> float:
    return float(np.abs(values - np.median(values)).sum())
