"""A figure as the page's script draws it: plain values, with what is as usual left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from streamgauge.report.plot_parts import PALETTE_SIZE, Axis, Figure, HeatMap, Plot, Series, Style, Tick

Parts = dict[str, Any]


def figure_values(figure: Figure) -> Parts:
    return _heat_map(figure) if isinstance(figure, HeatMap) else _plot(figure)


def _plot(plot: Plot) -> Parts:
    return _short(
        {
            "kind": "plot",
            "title": plot.title,
            "x": _axis(plot.x),
            "y": _axis(plot.y),
            "y2": None if plot.second_y is None else _axis(plot.second_y),
            "reading": plot.reading,
            "stretch": plot.stretch,
            "bands": [asdict(band) for band in plot.bands],
            "series": [_series(series) for series in plot.series],
        }
    )


def _series(series: Series) -> Parts:
    style = series.style
    return _short(
        {
            "name": series.name,
            "mark": series.mark,
            "colour": colour_name(style),
            "width": style.width,
            "dash": None if style.dash == "solid" else style.dash,
            "symbol": None if style.symbol == "circle" else style.symbol,
            "opacity": None if style.opacity == 1 else style.opacity,
            "told": None if series.told is None else asdict(series.told),
            "labels": list(series.labels),
            "second": series.on_second_axis,
        }
    ) | {"x": list(series.x), "y": list(series.y)}


def _axis(axis: Axis) -> Parts:
    found = _short(
        {
            "title": axis.title,
            "scale": axis.scale,
            "ticks": _ticks(axis.ticks),
            "told": None if axis.told is None else asdict(axis.told),
            "byDecades": axis.by_decades,
            "fromZero": axis.from_zero,
            "down": axis.is_downwards,
        }
    )
    return found if axis.has_grid else found | {"grid": False}


def _heat_map(heat: HeatMap) -> Parts:
    return {
        "kind": "heat",
        "title": heat.title,
        "x": _axis(heat.x),
        "y": _axis(heat.y),
        "columns": list(heat.columns),
        "rows": list(heat.rows),
        "cells": [[None if cell is None else asdict(cell) for cell in row] for row in heat.cells],
        "span": heat.span,
        "ticks": _ticks(heat.ticks),
    }


def _ticks(ticks: Sequence[Tick]) -> list[tuple[float, str]]:
    return [(tick.place, tick.text) for tick in ticks]


def colour_name(style: Style) -> str:
    """Of a variable of the page, which knows its theme."""
    return style.colour if isinstance(style.colour, str) else f"line-{style.colour % PALETTE_SIZE + 1}"


def _short(parts: Parts) -> Parts:
    return {name: value for name, value in parts.items() if value not in (None, False, "", [])}
