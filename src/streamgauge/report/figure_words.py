"""A figure in words, for who does not see it: what is drawn over what, and between which values."""

from __future__ import annotations

from streamgauge.report.plot_parts import Axis, Figure, HeatMap, NumberText, Plot, Series
from streamgauge.report.quantities import digits_text, plural

_KINDS = {"line": "line", "points": "points", "line and points": "line", "bars": "bars"}


def figure_words(figure: Figure) -> str:
    return _heat_words(figure) if isinstance(figure, HeatMap) else _plot_words(figure)


def _plot_words(plot: Plot) -> str:
    over = f" over {plot.x.title}" if plot.x.title else ""
    told = [_series_words(series, plot) for series in plot.series if series.told is not None]
    bands = [
        f"{band.name}: from {digits_text(band.start)} to {digits_text(band.end)}." for band in plot.bands
    ]
    return " ".join([f"{len(plot.series)} series{over}.", *told, *bands])


def _series_words(series: Series, plot: Plot) -> str:
    known = [value for value in series.y if value is not None]
    if not known:
        return f"{series.name}: no values."
    axis = plot.second_y if series.on_second_axis and plot.second_y is not None else plot.y
    unit = _unit(series.told, axis)
    low, high = min(known), max(known)
    if len(known) == 1:
        return f"{series.name}: {digits_text(low)}{unit}."
    between = f"from {digits_text(low)} to {digits_text(high)}{unit}"
    return f"{series.name}, {_KINDS[series.mark]}: {between}, the last {digits_text(known[-1])}."


def _unit(told: NumberText | None, axis: Axis) -> str:
    unit = told.unit if told is not None and told.unit else axis.title
    return f" {unit}" if unit else ""


def _heat_words(heat: HeatMap) -> str:
    cells = [cell for row in heat.cells for cell in row if cell is not None]
    told = [f"{cell.title}, {' '.join(cell.lines[:1])}." for cell in cells]
    return " ".join([f"{plural(len(cells), 'cell')}, {heat.y.title} by {heat.x.title}.", *told])
