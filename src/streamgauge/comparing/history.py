"""Where the level of a series of runs changed.

One cut after another is tried: a series is cut where the levels before and behind differ most against what
runs vary by, if runs in another order would hardly ever show as much (a permutation test, which needs no law
of their noise); then each part is looked at again. A level has two runs at least: one alone may be an
outlier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST_RUNS = 10
"""With fewer no order of runs is rare enough to prove anything."""
SIGNIFICANCE = 0.01
"""Of each cut: many series are looked at."""
_SHORTEST = 2
_ORDERS = 1999
_SEED = 20260102

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cut:
    at: int
    """The place of the first run of the new level."""
    before: float
    after: float
    """Geometric means of the levels on both sides, up to the next cut."""
    p: float


def cuts(values: Sequence[float]) -> list[Cut]:
    """In their order; values are above 0."""
    logs = np.log(np.asarray(values, float))
    found = dict(_cuts(logs, 0))
    ends = [0, *sorted(found), len(logs)]
    return [
        Cut(
            at,
            math.exp(float(logs[ends[place - 1] : at].mean())),
            math.exp(float(logs[at : ends[place + 1]].mean())),
            found[at],
        )
        for place, at in enumerate(ends)
        if at in found
    ]


def _cuts(logs: Floats, first: int) -> list[tuple[int, float]]:
    if len(logs) < FEWEST_RUNS:
        return []
    rng = np.random.default_rng((_SEED, len(logs)))
    orders = rng.permuted(np.tile(logs, (_ORDERS, 1)), axis=1)
    scores = _scores(np.vstack([logs, orders]))
    best = scores.max(axis=1)
    p = float(np.mean(best >= best[0] * (1 - 1e-9)))
    if p >= SIGNIFICANCE or best[0] == 0:
        return []
    at = int(scores[0].argmax()) + _SHORTEST
    return [*_cuts(logs[:at], first), (first + at, p), *_cuts(logs[at:], first + at)]


def _scores(rows: Floats) -> Floats:
    """Of every row and every cut: how far apart the levels are, against what is left around them."""
    count = rows.shape[1]
    rows = rows - rows.mean(axis=1, keepdims=True)
    sizes = np.arange(_SHORTEST, count - _SHORTEST + 1)
    sums = np.cumsum(rows, axis=1)[:, sizes - 1]
    explained = sums**2 * count / (sizes * (count - sizes))
    left = np.maximum((rows**2).sum(axis=1, keepdims=True) - explained, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(explained > 0, explained / left, 0.0)
    return np.asarray(found, np.float64)
