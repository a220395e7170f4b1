"""Was a load at rest? Told from the medians of its seconds, in their order.

The rule is `core/steady_state`'s; of a phase of fewer seconds than it needs, `core/plain_change`'s. A figure
of a load that still warms up, builds a backlog or swings is exact, and true of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamgauge.core import steady_state
from streamgauge.core.plain_change import Change, plain_change
from streamgauge.core.steady_state import LEAST_SLOTS, MOST_SLOTS, judged

FEWEST_SECONDS = 5
"""Fewer say nothing of a course."""

_ABOVE_ZERO_MS = 1e-6
"""The least that a clock of ns can tell: a level has a logarithm."""


def unrest(medians_ms: Sequence[float], slots_ms: Sequence[float] = ()) -> Change | None:
    """How far the median moved, and when; None of a load that is at rest, or of too few seconds to tell.
    `slots_ms`: medians of shorter slots of the same time, where they are known."""
    values = np.maximum(np.asarray(medians_ms, float), _ABOVE_ZERO_MS)
    if len(values) < FEWEST_SECONDS:
        return None
    if len(values) < LEAST_SLOTS:
        return plain_change(values, np.maximum(np.asarray(slots_ms, float), _ABOVE_ZERO_MS))
    found = judged(values)
    if found.unrest is None:
        return None
    if found.unrest in (steady_state.Unrest.TREND, steady_state.Unrest.STEP):
        at = found.at * -(-len(values) // MOST_SLOTS) if found.at is not None else None
        cut = len(values) // 2 if at is None else at
        return Change(float(np.median(values[:cut])), float(np.median(values[cut:])), at)
    low, high = (float(value) for value in np.quantile(values, (0.1, 0.9)))
    return Change(low, high, None)
