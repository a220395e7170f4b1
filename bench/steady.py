"""The rate of a run once it is flat: a Java that still compiles, or a cache that still fills, is no rate.

The same rule for both sides, whatever they are: progress is looked at four times a second, and what counts
begins with the first look from which the next few go as fast as all that follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOW_S = 0.25
_FEW = 3
_FLAT = 0.9
"""Of the median rate of all that follows, which the next few windows must reach."""
_LATEST = 0.6
"""Share of the run by which it must be flat."""


@dataclass(frozen=True)
class Steady:
    begin_s: float
    end_s: float
    count: int
    """Messages of the flat part."""
    is_flat: bool
    """False: it never was, and the figures are those of the last part."""

    @property
    def rate_per_s(self) -> float:
        return self.count / (self.end_s - self.begin_s)


def steady_part(times_s: Sequence[float], counts: Sequence[int]) -> Steady:
    """`counts[k]` messages were done by `times_s[k]`."""
    times, done = np.asarray(times_s, float), np.asarray(counts, np.int64)
    if len(times) < _FEW + 2:
        raise RuntimeError(
            f"{len(times)} looks at the progress are too few to tell a rate: a run must take "
            f"{(_FEW + 2) * WINDOW_S:g} s and more; raise --scale"
        )
    rates = np.diff(done) / np.diff(times)
    latest = int(_LATEST * len(rates))
    first = next((k for k in range(latest + 1) if _is_flat_from(rates, k)), None)
    begin = latest if first is None else first
    return Steady(
        float(times[begin]), float(times[-1]), int(done[-1] - done[begin]), is_flat=first is not None
    )


def looks(event_ns: NDArray[np.int64]) -> tuple[list[float], list[int]]:
    """Progress four times a second, from the times of all messages; the last part of a window is left out."""
    ordered = np.sort(event_ns)
    edges = np.arange(ordered[0], ordered[-1] + 1, int(WINDOW_S * 1e9))
    counts = np.searchsorted(ordered, edges, side="right")
    return (edges / 1e9).tolist(), counts.tolist()


def _is_flat_from(rates: NDArray[np.float64], first: int) -> bool:
    rest = rates[first:]
    return len(rest) >= _FEW and bool(np.median(rest[:_FEW]) >= _FLAT * np.median(rest))
