"""A figure as Plotly takes it; a colour may be a CSS variable of the page, which knows its theme."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from streamgauge.report.plot_parts import (
    PALETTE_SIZE,
    Axis,
    Band,
    Figure,
    HeatCell,
    HeatMap,
    NumberText,
    Plot,
    Series,
    Style,
    Tick,
)

Parts = dict[str, Any]

_DASHES = {
    "solid": "solid",
    "dashed": "dash",
    "dotted": "dot",
    "dash-dotted": "dashdot",
    "long-dashed": "longdash",
    "long-dash-dotted": "longdashdot",
}
_MODES = {"line": "lines", "points": "markers", "line and points": "lines+markers"}
_SCALES = {"linear": "linear", "log": "log", "names": "category"}
_READINGS = {"point": "closest", "across": "x unified"}
_FORMATS = {"up to": "~f", "exactly": "f", "figures": "~g", "scaled": "~s"}
# Strong enough to be told apart, faint enough to read on in light and dark.
_HEAT = [[0, "rgba(15,138,126,.75)"], [0.5, "rgba(128,138,150,.10)"], [1, "rgba(217,115,13,.75)"]]
_LONG_TEXT = 8
"""Letters, on average, of ticks that stand too close when there are more than three."""


def plotly_figure(figure: Figure) -> Parts:
    return _heat_map(figure) if isinstance(figure, HeatMap) else _plot(figure)


def _plot(plot: Plot) -> Parts:
    layout: Parts = {
        "xaxis": _axis(plot.x),
        "yaxis": _axis(plot.y),
        "hovermode": _READINGS[plot.reading],
        **_bands(plot.bands),
    }
    if plot.second_y is not None:
        layout["yaxis2"] = _second_axis(plot.second_y)
    if any(series.mark == "bars" for series in plot.series):
        layout["barmode"] = "group"
    return _titled(plot, [_series(series) for series in plot.series], layout)


def _titled(figure: Figure, data: list[Parts], layout: Parts) -> Parts:
    return {"title": figure.title, "data": data, "layout": layout, "note": figure.note}


def _series(series: Series) -> Parts:
    made: Parts = {"name": _plain(series.name), "x": list(series.x), "y": list(series.y)}
    style, colour = series.style, _colour(series.style)
    if series.mark == "bars":
        made |= {"type": "bar", "marker": {"color": colour, "opacity": style.opacity}}
    else:
        made |= {"type": "scatter", "mode": _MODES[series.mark]}
        made["line"] = {"color": colour, "width": style.width, "dash": _DASHES[style.dash]}
    if series.mark == "points":
        made["marker"] = {"symbol": style.symbol, "size": 5, "color": colour, "opacity": style.opacity}
    if series.on_second_axis:
        made["yaxis"] = "y2"
    if series.labels:
        made["text"] = [_plain(label) for label in series.labels]
    return made | (
        _told(series.told, has_labels=bool(series.labels)) if series.told else {"hoverinfo": "skip"}
    )


def _told(told: NumberText, *, has_labels: bool) -> Parts:
    number = f"%{{y:,.{told.count}{_FORMATS[told.digits]}}}"
    return {"hovertemplate": ("%{text}: " if has_labels else "") + f"{number} {_plain(told.unit)}".rstrip()}


def _axis(axis: Axis) -> Parts:
    made: Parts = {"title": {"text": _plain(axis.title)}, "type": _SCALES[axis.scale]}
    if axis.ticks:
        made |= _ticks(axis.ticks)
        lengths = [len(tick.text) for tick in axis.ticks]
        made["tickangle"] = -45 if len(lengths) > 3 and sum(lengths) > _LONG_TEXT * len(lengths) else 0
    if axis.scale == "log" and axis.by_decades:
        made["dtick"] = 1
    if axis.told is not None:
        made["tickformat"] = f".{axis.told.count}{_FORMATS[axis.told.digits]}"
    if axis.from_zero:
        made["rangemode"] = "tozero"
    if axis.is_downwards:
        made["autorange"] = "reversed"
    if not axis.has_grid:
        made |= {"showgrid": False, "zeroline": False}
    return made


def _second_axis(axis: Axis) -> Parts:
    """With round figures of its own, not whatever stands beside those of the first axis."""
    own = {"overlaying": "y", "side": "right", "tickformat": ".3~s"}
    if axis.scale == "log":
        own["tickmode"] = "linear"
        return {"dtick": "D2", **_axis(axis), **own}
    return _axis(axis) | own


def _ticks(ticks: Sequence[Tick]) -> Parts:
    return {"tickvals": [tick.place for tick in ticks], "ticktext": [_plain(tick.text) for tick in ticks]}


def _bands(bands: Sequence[Band]) -> Parts:
    """Shaded over the whole height, with their names at the top."""
    if not bands:
        return {}
    placed = {"xref": "x", "yref": "paper"}
    shape = placed | {"type": "rect", "y0": 0, "y1": 1, "layer": "below", "line": {"width": 0}}
    label = placed | {"y": 1, "xanchor": "left", "yanchor": "top", "showarrow": False}
    return {
        "shapes": [shape | {"x0": band.start, "x1": band.end, "fillcolor": "var(--shade)"} for band in bands],
        "annotations": [
            label | {"x": band.start, "text": _plain(band.name), "font": {"color": "var(--muted)"}}
            for band in bands
        ],
    }


def _heat_map(heat: HeatMap) -> Parts:
    def of_cells(told: Any) -> list[list[Any]]:
        return [[told(cell) for cell in row] for row in heat.cells]

    trace: Parts = {
        "type": "heatmap",
        "x": [_plain(name) for name in heat.columns],
        "y": [_plain(name) for name in heat.rows],
        "z": of_cells(lambda cell: cell and cell.value),
        "zmin": -heat.span,
        "zmax": heat.span,
        "colorscale": _HEAT,
        "xgap": 2,
        "ygap": 2,
        "text": of_cells(lambda cell: _lines(cell.lines) if cell else ""),
        "texttemplate": "%{text}",
        "textfont": {"size": 12, "color": "var(--text)"},
        "hovertext": of_cells(_heat_cell),
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 11}, **_ticks(heat.ticks)},
    }
    layout = {"xaxis": _axis(heat.x), "yaxis": _axis(heat.y), "hovermode": "closest"}
    return _titled(heat, [trace], layout)


def _heat_cell(cell: HeatCell | None) -> str:
    return "" if cell is None else f"<b>{_plain(cell.title)}</b><br>{_lines(cell.about)}"


def _lines(lines: Sequence[str]) -> str:
    return "<br>".join(_plain(line) for line in lines)


def _colour(style: Style) -> str:
    if isinstance(style.colour, str):
        return f"var(--{style.colour})"
    return f"var(--line-{style.colour % PALETTE_SIZE + 1})"


def _plain(text: str) -> str:
    """Plotly reads some HTML in names; a name is to be shown as it is."""
    return html.escape(text, quote=False)
