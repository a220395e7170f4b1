"""When is a load at rest? One rule, for where measuring begins and for whether its figures may be quoted.

It looks at a series of levels, one a slot of time (the median latency, or the CPU used): on a logarithmic
scale, since a level that goes from 2 to 1 ms has changed as much as one that goes from 200 to 100. A level is
at rest when it stays within a tolerance about where it ends, and shows no trend, no step and no swing beyond
it. What single slots vary by is taken from their successive differences, so that a noisy machine is not taken
for a restless one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Levels = NDArray[np.float64]

SLOT_S = 0.25
SLOT_NS = 250_000_000
"""In which a load is watched; the first slot begins with the load."""
TOLERANCE = 0.10
"""Changes of the level below this do not change what one would say of it."""
LEAST_SLOTS = 16
"""Fewer say nothing: four seconds."""
MOST_LEAST_SLOTS = 3 * LEAST_SLOTS // 2
"""A level whose slots vary so much that fewer do not tell it to within the tolerance has to last for more of
them, up to so many: what a Java that compiles does to a load is noise, not a level."""
MOST_SLOTS = 240
"""Longer series are taken together: what matters of an hour is not a quarter of a second."""
MACHINE_BUSY_SHARE = 0.90
"""Of all cores of a host: with less to spare it has none, and figures taken there are of its scheduler."""
_STILL_MOVING = 0.5
"""Of the tolerance: while warming up, a trend this large over the last slots is waited for: the level is not
there yet. Smaller ones are not: the decision would come when the slot that it is about has long passed."""
_BAND_SDS = 3.0
TREND_P, _STEP_P = 0.01, 0.001
_MOST_OUTSIDE = 0.2
"""Single slots may be far off (a pause of the collector); that is what the tail of a distribution shows."""
_SWING = 0.25
_SWING_SDS = 3.3


class Unrest(StrEnum):
    """Why a series is not at rest."""

    TOO_SHORT = "too_short"
    TREND = "trend"
    STEP = "step"
    SWING = "swing"
    SCATTER = "scatter"


@dataclass(frozen=True)
class Rest:
    """What was found of a series."""

    start: int | None
    """The slot since which it has been at rest; None: it is not."""
    unrest: Unrest | None = None
    change: float = 0.0
    """The ratio of levels, less 1, that the unrest is: the trend's over the whole series, or the step's."""
    at: int | None = None
    """The slot of the step."""


def settled(levels: Levels, *, least: int = LEAST_SLOTS, tolerance: float = TOLERANCE) -> Rest:
    """Of a load that is warming up: has it come to rest by now, and since which slot?

    Asked again as time goes on, it may name a later slot: a level that rested for a while has changed.
    """
    if len(levels) < least:
        return Rest(None, Unrest.TOO_SHORT)
    logs = np.log(levels)
    tail = logs[-least:]
    least = max(least, slots_to_tell(np.exp(tail), tolerance))
    if len(levels) < least:
        return Rest(None, Unrest.TOO_SHORT)
    start = _near(logs, float(np.median(tail)), tail, tolerance)
    if len(logs) - start >= least:
        # The level by all that is surely at rest: the first of it may still be on its way.
        sure = logs[start:][-max(least, (len(logs) - start) // 2) :]
        start = _near(logs, float(np.median(sure)), tail, tolerance)
    rest = logs[start:]
    if len(rest) < least:
        return Rest(None, Unrest.TOO_SHORT)
    change, chance = _trend(tail)
    if abs(change) > math.log1p(_STILL_MOVING * tolerance) and chance < TREND_P:
        return Rest(None, Unrest.TREND, math.expm1(change))
    slots = in_slots(rest)
    return _unrest(slots, _trend(slots), tolerance) or Rest(start)


def slots_to_tell(levels: Levels, tolerance: float = TOLERANCE) -> int:
    """How many like these it takes until the median of each half is known to within the tolerance, by its
    standard error; not below nor above what is asked for in any case."""
    noise = _noise(np.log(levels))
    needed = math.ceil(2 * (1.25 * noise / math.log1p(tolerance)) ** 2)
    return min(max(LEAST_SLOTS, needed), MOST_LEAST_SLOTS)


def judged(levels: Levels, *, tolerance: float = TOLERANCE) -> Rest:
    """Of what was measured: was it at rest from its first slot to its last?"""
    if len(levels) < LEAST_SLOTS:
        return Rest(None, Unrest.TOO_SHORT)
    logs = np.log(in_slots(levels))
    found = _unrest(logs, _trend(logs), tolerance)
    if found is not None:
        return found
    band = max(math.log1p(tolerance), _BAND_SDS * _noise(logs))
    share = float(np.mean(np.abs(_smooth(logs) - np.median(logs)) > band))
    return Rest(None, Unrest.SCATTER, share) if share > _MOST_OUTSIDE else Rest(0)


def drift(levels: Levels, *, tolerance: float = TOLERANCE, most_chance: float = TREND_P) -> float:
    """Of what was measured: the relative change from its first slot to its last, whatever else it does;
    0 where the trend is within the tolerance, or may be chance."""
    if len(levels) < LEAST_SLOTS:
        return 0.0
    change, chance = _trend(np.log(in_slots(levels)))
    return math.expm1(change) if abs(change) > math.log1p(tolerance) and chance < most_chance else 0.0


def in_slots(levels: Levels, most: int = MOST_SLOTS) -> Levels:
    """A long series with fewer slots: medians of neighbours."""
    together = -(-len(levels) // most)
    if together <= 1:
        return levels
    whole = len(levels) // together * together
    return np.median(levels[:whole].reshape(-1, together), axis=1)


def _near(logs: Levels, level: float, tail: Levels, tolerance: float) -> int:
    """The slot since which it has been near this level: at no time far off, and for the tolerance itself by
    medians of so many slots that their noise is small against it."""
    noise = _noise(tail)
    start = 0
    for width, band in ((3, 2 * tolerance), (9, tolerance)):
        most = max(math.log1p(band), _BAND_SDS * noise * 1.25 / math.sqrt(width))
        outside = np.flatnonzero(np.abs(_smooth(logs, width) - level) > most)
        start = max(start, int(outside[-1]) + 1 if len(outside) else 0)
    return start


def _unrest(logs: Levels, trend: tuple[float, float], tolerance: float) -> Rest | None:
    """`trend`: of these very levels, which takes longest to find."""
    found: list[tuple[float, Rest]] = []
    change, chance = trend
    if abs(change) > math.log1p(tolerance) and chance < TREND_P:
        line = np.linspace(-0.5, 0.5, len(logs)) * change
        found.append((_left(logs - line), Rest(None, Unrest.TREND, math.expm1(change))))
    at, change, chance = _step(logs)
    if abs(change) > math.log1p(tolerance) and chance < _STEP_P:
        parted = logs - change * (np.arange(len(logs)) >= at)
        found.append((_left(parted), Rest(None, Unrest.STEP, math.expm1(change), at)))
    if found:
        return min(found, key=lambda each: each[0])[1]
    swing = _swing(logs)
    if swing > math.log1p(_SWING):
        return Rest(None, Unrest.SWING, math.expm1(swing))
    return None


def _left(logs: Levels) -> float:
    """What an explanation leaves unexplained."""
    return float(np.abs(logs - np.median(logs)).sum())


def _noise(logs: Levels) -> float:
    """What single slots vary by, whatever the level does: from successive differences, robustly."""
    differences = np.diff(logs)
    spread = 1.4826 * np.median(np.abs(differences - np.median(differences)))
    return float(spread) / math.sqrt(2)


def _smooth(logs: Levels, width: int = 3) -> Levels:
    """Running medians: one slot alone is an outlier, not a level."""
    padded = np.pad(logs, width // 2, mode="edge")
    smooth: Levels = np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1)
    return smooth


def _trend(logs: Levels) -> tuple[float, float]:
    """How much the level rises over the series by Theil and Sen's slope, and Mann and Kendall's p of it."""
    n = len(logs)
    first, second = np.triu_indices(n, 1)
    differences = logs[second] - logs[first]
    slope = float(np.median(differences / (second - first)))
    score = float(np.sign(differences).sum())
    deviation = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    z = max(0.0, abs(score) - 1) / deviation
    return slope * (n - 1), math.erfc(z / math.sqrt(2))


def _step(logs: Levels) -> tuple[int, float, float]:
    """Where the level changed most by Pettitt's test: the slot, by how much, and p."""
    n = len(logs)
    signs = np.sign(logs[:, None] - logs[None, :])
    # The sum over pairs with one before the cut and one behind it, for every cut.
    rows = signs.sum(axis=1)
    scores = np.abs(np.cumsum(rows))[:-1]
    edge = max(4, n // 8)
    inner = scores[edge - 1 : n - edge]
    at = edge + int(np.argmax(inner))
    chance = min(1.0, 2 * math.exp(-6 * float(inner.max()) ** 2 / (n**3 + n**2)))
    return at, float(np.median(logs[at:]) - np.median(logs[:at])), chance


def _swing(logs: Levels) -> float:
    """How far the level swings to and fro, if slots next to each other are alike beyond chance, by von
    Neumann's ratio; else 0: then it is noise."""
    n, variance = len(logs), float(np.var(logs))
    if variance == 0:
        return 0.0
    ratio = float(np.mean(np.diff(logs) ** 2)) / variance
    is_chance = (2 - ratio) / (2 * math.sqrt((n - 2) / (n * n - 1))) < _SWING_SDS
    return 0.0 if is_chance else float(np.quantile(logs, 0.9) - np.quantile(logs, 0.1)) / 2
