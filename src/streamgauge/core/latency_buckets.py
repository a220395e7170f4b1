"""Buckets of latencies that can be added up, for a view while a run goes on.

A bucket holds the values that agree in their 8 leading bits, so its middle lies within 1/256 (0.4%) of each;
values below 128 ns are exact, and what is 0 or less has the first bucket. Results come from the finer
buckets of the analysis.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_FRACTION_BITS, _KEPT_BITS = 52, 7
_SHIFT = _FRACTION_BITS - _KEPT_BITS
_ONE = int(np.float64(1.0).view(np.int64)) >> _SHIFT
_OCTAVES = 44
"""Up to five hours."""
COUNT = _OCTAVES * 2**_KEPT_BITS + 1


class BucketCounters:
    """Counts by bucket, in an array that is made once."""

    def __init__(self) -> None:
        self._counts = np.zeros(COUNT, np.int64)

    def add(self, latencies_ns: NDArray[np.int64]) -> None:
        # A double's bits are its logarithm in steps: exponent first, then the leading bits.
        places = latencies_ns.astype(np.float64).view(np.int64) >> _SHIFT
        places -= _ONE - 1
        np.clip(places, 0, COUNT - 1, out=places)
        self._counts += np.bincount(places, minlength=COUNT)

    def take(self) -> list[tuple[int, int]]:
        """(middle of a bucket in ns, how many), of those that have any; all counts are 0 afterwards."""
        places = np.nonzero(self._counts)[0]
        taken = list(zip(middles_ns(places).tolist(), self._counts[places].tolist(), strict=True))
        self._counts[places] = 0
        return taken


def middles_ns(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The middles of buckets by their places; all at once: an agent does this beside what it measures."""
    low, high = (((at + (_ONE - 1)) << _SHIFT).view(np.float64) for at in (places, places + 1))
    return np.where(places == 0, 0, (low + high) / 2).astype(np.int64)


def added(counts: dict[int, int], more: Iterable[tuple[int, int]]) -> None:
    """Histograms are merged by adding."""
    for value, count in more:
        counts[value] = counts.get(value, 0) + count
