"""How something grows with something else: through measured points a power law, or a line, with its error.

What costs something to begin and then the same for each is a line: its exponent rises towards 1 with its
sizes, so a power law through all of them says too little of what lies beyond them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_T_95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
"""Student's t, 97.5%, by degrees of freedom from 1 on."""


@dataclass(frozen=True)
class Growth:
    """y = factor · x^exponent, by least squares of the logarithms."""

    factor: float
    exponent: float
    exponent_error: float
    """95% of the time the true one is no further off; infinite with two points."""
    _x_mean: float
    _x_spread: float
    _residual: float
    _points: int

    def at(self, x: float) -> tuple[float, float, float]:
        """What it is reckoned to be there, and between what a measurement would lie, 19 times of 20."""
        middle = self.factor * x**self.exponent
        if self._points <= 2:
            return middle, 0.0, math.inf
        off = (math.log(x) - self._x_mean) ** 2 / self._x_spread
        width = _t(self._points) * self._residual * math.sqrt(1 + 1 / self._points + off)
        return middle, middle * math.exp(-width), middle * math.exp(width)

    def text(self) -> str:
        return f"x^{self.exponent:.2f} ± {self.exponent_error:.2f}"


@dataclass(frozen=True)
class Line:
    """y = start + slope · x, by least squares of relative errors: a time is measured to so many per cent."""

    start: float
    slope: float
    _x_mean: float
    _x_spread: float
    _weight: float
    _residual: float
    _points: int

    def at(self, x: float) -> tuple[float, float, float]:
        """As `Growth.at`."""
        middle = self.start + self.slope * x
        if self._points <= 2:
            return middle, -math.inf, math.inf
        off = 1 / self._weight + (x - self._x_mean) ** 2 / self._x_spread
        width = _t(self._points) * self._residual * math.sqrt(middle**2 + off)
        return middle, middle - width, middle + width


def line_of(points: Sequence[tuple[float, float]]) -> Line:
    """At least two points with different x; all above 0."""
    weighted = [(x, y, y**-2) for x, y in points]
    weight = sum(w for _, _, w in weighted)
    x_mean, y_mean = sum(w * x for x, _, w in weighted) / weight, sum(w * y for _, y, w in weighted) / weight
    x_spread = sum(w * (x - x_mean) ** 2 for x, _, w in weighted)
    slope = sum(w * (x - x_mean) * (y - y_mean) for x, y, w in weighted) / x_spread
    start = y_mean - slope * x_mean
    squares = sum(w * (y - start - slope * x) ** 2 for x, y, w in weighted)
    residual = math.sqrt(squares / (len(points) - 2)) if len(points) > 2 else math.inf
    return Line(start, slope, x_mean, x_spread, weight, residual, len(points))


def growth_of(points: Sequence[tuple[float, float]]) -> Growth:
    """At least two points with different x; all above 0."""
    xs, ys = ([math.log(point[n]) for point in points] for n in (0, 1))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    x_spread = sum((x - x_mean) ** 2 for x in xs)
    exponent = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / x_spread
    start = y_mean - exponent * x_mean
    squares = sum((y - start - exponent * x) ** 2 for x, y in zip(xs, ys, strict=True))
    residual = math.sqrt(squares / (len(xs) - 2)) if len(xs) > 2 else math.inf
    error = _t(len(xs)) * residual / math.sqrt(x_spread) if len(xs) > 2 else math.inf
    return Growth(math.exp(start), exponent, error, x_mean, x_spread, residual, len(xs))


def _t(points: int) -> float:
    return _T_95[min(points - 2, len(_T_95)) - 1]
