"""Long series, thinned to what a screen can show: of every stretch its least and its greatest value.

A run of twelve hours has 43,200 seconds; all points of all series would make a page of 10 MB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from streamgauge.report.plot_parts import Figure, Plot, Series
from streamgauge.report.quantities import digits_text

MOST_POINTS = 600
"""Of a series; it has a gap besides wherever the whole has one in a stretch."""
_FEWEST_POINTS = 75
_MOST_POINTS_OF_A_PAGE = 60_000
"""Of some 14 bytes each."""
_LINES = ("line", "line and points")


def points_each(figures: Iterable[Figure]) -> int:
    """How many a series may have for all that a page draws."""
    lengths = [len(series.x) for figure in figures if isinstance(figure, Plot) for series in figure.series]
    most = MOST_POINTS
    while most > _FEWEST_POINTS and sum(min(most, length) for length in lengths) > _MOST_POINTS_OF_A_PAGE:
        most //= 2
    return most


def thinned(plot: Plot, most: int = MOST_POINTS) -> Plot:
    """The same stretches for all series, so that they can be read off together."""
    long = [series for series in plot.series if _is_long(series, most)]
    if not long:
        return plot
    first = min(float(series.x[0]) for series in long)
    last = max(float(series.x[-1]) for series in long)
    stretch = _whole((last - first) / (most // 2 - 2))
    kept = [_thinned(series, stretch) if _is_long(series, most) else series for series in plot.series]
    said = (
        f"Of every {digits_text(stretch)} of the x axis the least and the greatest value are drawn; "
        "the CSV files have them all."
    )
    note = said if plot.note is None else f"{plot.note} {said}"
    return replace(plot, series=kept, note=note, stretch=stretch)


def _whole(stretch: float) -> float:
    return float(math.ceil(stretch)) if stretch > 1 else stretch


def _is_long(series: Series, most: int) -> bool:
    """A line over numbers that go up: nothing else is a course."""
    if series.mark not in _LINES or len(series.x) <= most:
        return False
    if any(isinstance(x, str) for x in series.x):
        return False
    places = [float(x) for x in series.x]
    return places[-1] > places[0] and all(one <= other for one, other in pairwise(places))


def _thinned(series: Series, stretch: float) -> Series:
    kept: list[int] = []
    for members in _stretches(series, stretch):
        known = [(value, number) for number in members if (value := series.y[number]) is not None]
        ends = {number for _, number in (min(known), max(known))} if known else set()
        gap = next((number for number in members if series.y[number] is None), None)
        kept += sorted(ends if gap is None else ends | {gap})
    return replace(
        series,
        x=[series.x[number] for number in kept],
        y=[series.y[number] for number in kept],
        labels=[series.labels[number] for number in kept] if series.labels else (),
    )


def _stretches(series: Series, stretch: float) -> Iterator[list[int]]:
    """Places of the points of each."""
    members: list[int] = []
    current = 0
    for number, x in enumerate(series.x):
        place = math.floor(float(x) / stretch)
        if members and place != current:
            yield members
            members = []
        current = place
        members.append(number)
    yield members
