"""The one percentile: between the two nearest values, in proportion, as if all values were there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import NS_PER_MS

Integers = NDArray[np.int64]


def weighted_percentiles(
    values: Integers, counts: Integers, begins: Integers, shares: Sequence[float]
) -> list[NDArray[np.float64]]:
    """Of each group of values that begins there; values go up within it, and each came so many times."""
    reached = np.cumsum(counts)
    before = reached[begins] - counts[begins]
    last = np.append(before[1:], reached[-1]) - before - 1
    found = []
    for share in shares:
        position = share * last
        low, high = np.floor(position), np.ceil(position)
        under, over = (
            values[np.searchsorted(reached, before + rank.astype(np.int64), side="right")].astype(np.float64)
            for rank in (low, high)
        )
        between = (high - position) * under + (position - low) * over
        found.append(np.where(under == over, under, between))
    return found


def percentiles_of(counts: Mapping[int, int], shares: Sequence[float]) -> list[float]:
    """Of values that came so many times; there is at least one."""
    values = np.array(sorted(counts), np.int64)
    times = np.array([counts[value] for value in values.tolist()], np.int64)
    return [float(found[0]) for found in weighted_percentiles(values, times, np.zeros(1, np.int64), shares)]


def percentile_ms(buckets: Iterable[tuple[float, int]], share: float) -> float:
    """Of buckets (the middle in ms, how many), of which there is at least one."""
    counts: dict[int, int] = {}
    for value_ms, count in buckets:
        value_ns = round(value_ms * NS_PER_MS)
        counts[value_ns] = counts.get(value_ns, 0) + count
    return percentiles_of(counts, [share])[0] / NS_PER_MS
