"""One library's times in one cell: what they are like, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.verdicts import Cause, CauseCode, cause

SPREAD = 0.10
"""SD over mean from which it is warned, as pyperf does."""
EXTREME = 0.50
"""How far from the mean an extreme may be."""
FEW = 10
"""Repetitions below which it is warned."""

_SMALLER_HUMP = 3
_SMALLER_SHARE = 0.1


@dataclass(frozen=True)
class Sample:
    """Nothing is ever dropped from it."""

    count: int
    max: float
    min: float
    mean: float
    median: float
    sd: float | None
    """None of a single value."""
    is_two_humped: bool

    @property
    def cv(self) -> float | None:
        return None if self.sd is None else self.sd / self.mean


def sample(values: Sequence[float]) -> Sample | None:
    """None when there is nothing; values are above 0."""
    times = np.asarray(values, float)
    if not len(times):
        return None
    return Sample(
        count=len(times),
        max=float(times.max()),
        min=float(times.min()),
        mean=float(times.mean()),
        median=float(np.median(times)),
        sd=float(times.std(ddof=1)) if len(times) > 1 else None,
        is_two_humped=is_two_humped(times),
    )


def is_two_humped(times: NDArray[np.float64]) -> bool:
    """Do two groups explain nearly all of the variance of the logarithms?

    Both groups need three values and a tenth of all, so that outliers make none. An even spread, the worst
    that has one hump, is taken for two in less than 1 of 100 samples of 10 or more; fewer are not judged.
    """
    count = len(times)
    if count < FEW:
        return False
    logs = np.sort(np.log(times))
    logs -= logs.mean()
    whole = float((logs**2).sum())
    if whole <= 1e-12 * count:
        return False
    least = max(_SMALLER_HUMP, int(np.ceil(_SMALLER_SHARE * count)))
    sizes = np.arange(least, count - least + 1)
    below = np.cumsum(logs)[sizes - 1]
    # The whole has mean 0: what a split explains follows from one group's sum.
    explained = below**2 / sizes + below**2 / (count - sizes)
    return bool(explained.max() / whole > 0.9 + 0.5 / count)


def warnings_of(side: str, found: Sample) -> Iterator[Cause]:
    """What pyperf would warn of, and humps."""
    if found.count < FEW:
        yield cause(CauseCode.FEW_REPETITIONS, about=side, repetition_count=found.count, advised_count=FEW)
    if found.cv is not None and found.cv >= SPREAD:
        yield cause(CauseCode.SPREAD, about=side, sd_share=found.cv)
    if found.max >= (1 + EXTREME) * found.mean:
        yield cause(CauseCode.EXTREMES, about=side, max_share=found.max / found.mean - 1)
    if found.min <= (1 - EXTREME) * found.mean:
        yield cause(CauseCode.EXTREMES, about=side, min_share=found.min / found.mean - 1)
    if found.is_two_humped:
        yield cause(CauseCode.TWO_HUMPS, about=side)
