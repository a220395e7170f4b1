"""What a figure is, as values: series, axes and marks, or a map of cells; renderers draw it.

A colour is a place in the palette that each renderer has of its own, or what it means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

PALETTE_SIZE = 6

Mark = Literal["line", "points", "line and points", "bars"]
Dash = Literal["solid", "dashed", "dotted", "dash-dotted", "long-dashed", "long-dash-dotted"]
DASHES: tuple[Dash, ...] = get_args(Dash)
Symbol = Literal["circle", "cross", "diamond"]
Colour = int | Literal["good", "bad"]
"""A place in the palette, from 0, or what it means."""
Scale = Literal["linear", "log", "names"]
"""Names: each value has a place of its own, in the order in which they come."""
Digits = Literal["up to", "exactly", "figures", "scaled"]
"""So many decimals at most; so many decimals; so many figures; so many figures, then k, M …"""
Reading = Literal["point", "across"]
"""How values are read off: one by one, or all that stand above each other."""


@dataclass(frozen=True)
class NumberText:
    """How a number is written where it is read off."""

    digits: Digits
    count: int
    unit: str = ""


@dataclass(frozen=True)
class Style:
    colour: Colour
    width: float = 2
    dash: Dash = "solid"
    symbol: Symbol = "circle"
    opacity: float = 1.0


@dataclass(frozen=True)
class Series:
    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    """None is a gap."""
    style: Style
    mark: Mark = "line"
    told: NumberText | None = None
    """Of a value; None: the series is a guide, which has nothing to tell."""
    labels: Sequence[str] = ()
    """What each point is, if its place does not say it."""
    on_second_axis: bool = False


@dataclass(frozen=True)
class Tick:
    place: float
    text: str


@dataclass(frozen=True)
class Axis:
    title: str = ""
    scale: Scale = "linear"
    ticks: Sequence[Tick] = ()
    """None: a renderer's own."""
    told: NumberText | None = None
    """Of a renderer's own ticks; None: as it pleases."""
    by_decades: bool = False
    """One tick a decade."""
    from_zero: bool = False
    is_downwards: bool = False
    has_grid: bool = True


@dataclass(frozen=True)
class Band:
    """A stretch of the x axis that is set apart."""

    name: str
    start: float
    end: float


@dataclass(frozen=True)
class Plot:
    """Series over an axis, and over a second one for values of another kind."""

    title: str
    series: Sequence[Series]
    x: Axis
    y: Axis
    second_y: Axis | None = None
    reading: Reading = "point"
    bands: Sequence[Band] = ()
    note: str | None = None
    stretch: float | None = None
    """Of a thinned plot: how wide the stretches are of which it has the least and the greatest value."""


@dataclass(frozen=True)
class HeatCell:
    value: float | None
    lines: Sequence[str]
    """What stands in it."""
    title: str
    about: Sequence[str]
    """What is told of it where it is read off."""


@dataclass(frozen=True)
class HeatMap:
    """Cells by two names, coloured from one side over the middle, zero, to the other."""

    title: str
    x: Axis
    y: Axis
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[HeatCell | None]]
    """By row, by column."""
    span: float
    """Where the colours end, on both sides."""
    ticks: Sequence[Tick]
    note: str | None = None


Figure = Plot | HeatMap


def value_axis(series: Sequence[Series], unit: str) -> Axis:
    """Logarithmic, where most values can be shown so; the reader can switch it."""
    values = _values(series)
    positive = [value for value in values if value > 0]
    if 2 * len(positive) <= len(values):
        return Axis(unit)
    # Over a narrower range a renderer's own choice says more.
    return Axis(unit, "log", by_decades=max(positive) / min(positive) > 50)


def axis_note(series: Sequence[Series], axis: Axis) -> str | None:
    """No value at or below zero vanishes in silence."""
    if axis.scale != "log" or all(value > 0 for value in _values(series)):
        return None
    return "Values at or below zero have no place on a log scale; the linear scale shows them."


def line_style(number: int, width: float) -> Style:
    """Once all colours were taken, they come again with another dash."""
    return Style(number % PALETTE_SIZE, width, DASHES[number // PALETTE_SIZE % 4])


def short(value: float) -> float:
    """Five figures: what a plot can show, and half the page's size."""
    return float(f"{value:.5g}")


def _values(series: Sequence[Series]) -> list[float]:
    return [value for line in series for value in line.y if value is not None]
