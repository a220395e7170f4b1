"""What a unit of load costs, from loads that were measured: a straight line through several causes.

No cause costs less than nothing, and being off by a tenth is as bad for a small load as for a large one:
least squares of the relative error with coefficients of zero or more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import t as student

from streamgauge.core.errors import BadInput
from streamgauge.spec.model import SpecModel

CONFIDENCE = 0.95
_Floats = NDArray[np.float64]


class Estimate(SpecModel):
    """With the interval in which one more measurement would lie, 19 times in 20."""

    value: float
    low: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Estimate:
        return cls(value=value, low=value, high=value)

    def __add__(self, other: Estimate) -> Estimate:
        """Errors of parts that were measured together go the same way: they add up in full."""
        return Estimate(value=self.value + other.value, low=self.low + other.low, high=self.high + other.high)

    def times(self, factor: float) -> Estimate:
        return Estimate(value=self.value * factor, low=self.low * factor, high=self.high * factor)


NOTHING = Estimate.exactly(0.0)


@dataclass(frozen=True)
class LinearCost:
    """One row: a load that was measured, how much of every cause it has, and what it took."""

    what: str
    causes: tuple[tuple[float, ...], ...]
    measured: tuple[float, ...]

    def at(self, causes: Sequence[float]) -> Estimate:
        """What a load with so much of every cause takes."""
        row = np.array(causes, float)
        value = float(row @ self.coefficients)
        if value <= 0:
            return Estimate.exactly(0.0)
        known, spread = self._spread
        among = row[known] / value
        error = self._quantile * math.sqrt(self._variance * (1.0 + float(among @ spread @ among)))
        return Estimate(value=value, low=max(0.0, value * (1 - error)), high=value * (1 + error))

    @cached_property
    def coefficients(self) -> _Floats:
        """By cause."""
        relative, scale = self._relative
        found, _ = nnls(relative / scale, np.ones(len(relative)))
        result: _Floats = found / scale
        return result

    @cached_property
    def _relative(self) -> tuple[_Floats, _Floats]:
        """Causes over what was measured, and by how much a cause has to be made smaller to be near 1."""
        if min(self.measured, default=0.0) <= 0:
            raise BadInput(f"costs: {self.what}: every load that was measured must have taken something")
        rows = np.array(self.causes, float) / np.array(self.measured)[:, None]
        largest = rows.max(axis=0)
        return rows, np.where(largest > 0, largest, 1.0)

    @property
    def _used(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.coefficients > 0)

    @cached_property
    def _freedom(self) -> int:
        freedom = len(self.measured) - len(self._used)
        if freedom < 1:
            raise BadInput(
                f"costs: {self.what}: {len(self.measured)} measured loads are too few for an interval; "
                "measure more: streamgauge size --calibrate"
            )
        return freedom

    @cached_property
    def _variance(self) -> float:
        """Of the relative error."""
        rows, _ = self._relative
        off = rows @ self.coefficients - 1.0
        return float(off @ off) / self._freedom

    @cached_property
    def _quantile(self) -> float:
        return float(student.ppf((1 + CONFIDENCE) / 2, self._freedom))

    @cached_property
    def _spread(self) -> tuple[NDArray[np.intp], _Floats]:
        """Causes that cost something, and how uncertain their costs are of each other."""
        rows, _ = self._relative
        own = rows[:, self._used]
        spread: _Floats = np.linalg.pinv(own.T @ own).astype(np.float64)
        return self._used, spread
