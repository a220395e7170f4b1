"""What a figure is, as values: series, axes and marks, or a map of cells; renderers draw it.

A colour is a place in the palette that each renderer has of its own, or what it means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

PALETTE_SIZE = 6


class Meaning(StrEnum):
    """A colour that says something by itself."""

    GOOD = "good"
    BAD = "bad"


class Dash(StrEnum):
    SOLID = "solid"
    DASHED = "dashed"
    DOTTED = "dotted"
    DASH_DOTTED = "dash-dotted"
    LONG_DASHED = "long-dashed"
    LONG_DASH_DOTTED = "long-dash-dotted"


class Mark(StrEnum):
    LINE = "line"
    POINTS = "points"
    LINE_AND_POINTS = "line and points"
    BARS = "bars"


class Symbol(StrEnum):
    CIRCLE = "circle"
    CROSS = "cross"
    DIAMOND = "diamond"


class Scale(StrEnum):
    LINEAR = "linear"
    LOG = "log"
    NAMES = "names"
    """Each value has a place of its own, in the order in which they come."""


class Digits(StrEnum):
    UP_TO = "up to so many decimals"
    EXACTLY = "so many decimals"
    FIGURES = "so many figures"
    SCALED = "so many figures, then k, M …"


class Reading(StrEnum):
    """How values are read off: one by one, or all that stand above each other."""

    POINT = "point"
    ACROSS = "across"


@dataclass(frozen=True)
class NumberText:
    """How a number is written where it is read off."""

    digits: Digits
    count: int
    unit: str = ""


@dataclass(frozen=True)
class Style:
    colour: int | Meaning
    """A place in the palette, from 0."""
    width: float = 2
    dash: Dash = Dash.SOLID
    symbol: Symbol = Symbol.CIRCLE
    opacity: float = 1.0


@dataclass(frozen=True)
class Series:
    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    """None is a gap."""
    style: Style
    mark: Mark = Mark.LINE
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
    scale: Scale = Scale.LINEAR
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
    reading: Reading = Reading.POINT
    bands: Sequence[Band] = ()
    note: str | None = None


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
    return Axis(unit, Scale.LOG, by_decades=max(positive) / min(positive) > 50)


def axis_note(series: Sequence[Series], axis: Axis) -> str | None:
    """No value at or below zero vanishes in silence."""
    if axis.scale is not Scale.LOG or all(value > 0 for value in _values(series)):
        return None
    return "Values at or below zero have no place on a log scale; the linear scale shows them."


def line_style(number: int, width: float) -> Style:
    """Once all colours were taken, they come again with another dash."""
    dashes = tuple(Dash)[:4]
    return Style(number % PALETTE_SIZE, width, dashes[number // PALETTE_SIZE % len(dashes)])


def short(value: float) -> float:
    """Five figures: what a plot can show, and half the page's size."""
    return float(f"{value:.5g}")


def _values(series: Sequence[Series]) -> list[float]:
    return [value for line in series for value in line.y if value is not None]
