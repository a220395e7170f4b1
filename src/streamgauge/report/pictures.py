"""Plots as SVG and PNG, drawn without a browser."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from streamgauge.report.plot_parts import Axis, Plot, Series, Style

ENDINGS = ("svg", "png")
_COLOURS = ("#0b62c4", "#d9730d", "#0f8a7e", "#8250df", "#c2377e", "#6b7685")
_MEANINGS = {"good": "#14703a", "bad": "#b3261e"}
_DASHES = {"solid": "-", "dotted": ":", "dash-dotted": "-.", "long-dash-dotted": "-."}
_GROUP_WIDTH = 0.8
# Without a date and random ids the same data give the same file.
_METADATA = {"svg": {"Date": None}, "png": {"Software": None}}


def pictures(plots: Sequence[Plot], heading: str = "") -> dict[str, bytes]:
    """All plots in one picture; by ending, `svg` and `png`."""
    # Drawing is for those who ask for it: the library takes a second to load.
    import matplotlib
    from matplotlib.figure import Figure

    columns = min(2, len(plots))
    rows = math.ceil(len(plots) / columns)
    with matplotlib.rc_context({"svg.hashsalt": "streamgauge", "font.size": 10}):
        figure = Figure(figsize=(7.5 * columns, 4.8 * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        for place, cell in enumerate(axes.flat):
            if place < len(plots):
                _draw(plots[place], cell)
            else:
                cell.set_axis_off()
        handles = {handle.get_label(): handle for cell in figure.axes for handle in _handles(cell)}
        figure.legend(handles=list(handles.values()), fontsize=8, ncols=5, loc="outside lower center")
        if heading:
            figure.suptitle(_plain(heading), fontsize=8)
        return {ending: _saved(figure, ending) for ending in ENDINGS}


def _saved(figure: Any, ending: str) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=ending, dpi=120, metadata=_METADATA[ending])
    return content.getvalue()


def _draw(plot: Plot, axes: Any) -> None:
    # A plot has one axis or two: values of a second kind stand on the second.
    sides = {False: (axes, plot.y)}
    if plot.second_y is not None:
        sides[True] = (axes.twinx(), plot.second_y)
    names = list(dict.fromkeys(str(x) for series in plot.series for x in series.x))
    bars = [series for series in plot.series if series.mark == "bars"]
    for series in plot.series:
        own, axis = sides[series.on_second_axis]
        places, values = _known(series, names if plot.x.scale == "names" else None, axis)
        if not values:
            continue
        style = {"color": _colour(series.style), "label": _plain(series.name)}
        if series.mark == "bars":
            width = _GROUP_WIDTH / len(bars)
            shift = (bars.index(series) - (len(bars) - 1) / 2) * width
            own.bar([place + shift for place in places], values, width, alpha=series.style.opacity, **style)
        else:
            own.plot(places, values, linewidth=series.style.width, **style, **_line(series))
    for own, axis in sides.values():
        _set_axis(own, "y", axis)
    if plot.x.scale == "names":
        axes.set_xticks(range(len(names)), [_plain(name) for name in names])
        axes.set_xlim(-0.6, len(names) - 0.4)
        axes.set_xlabel(_plain(plot.x.title))
    else:
        _set_axis(axes, "x", plot.x)
    if len(sides) == 1:
        axes.grid(alpha=0.3)
    axes.set_title(_plain(plot.title), fontsize=10)


def _set_axis(axes: Any, which: str, about: Axis) -> None:
    from matplotlib.ticker import EngFormatter, NullFormatter

    axes.set(**{f"{which}scale": about.scale, f"{which}label": _plain(about.title)})
    axis = getattr(axes, f"{which}axis")
    # In full, where there is room for it: powers of ten are for those who read them daily.
    axis.set_major_formatter(EngFormatter(sep=""))
    low, high = axis.get_view_interval()
    axis.set_minor_formatter(EngFormatter(sep="") if high < 10 * low else NullFormatter())


def _known(series: Series, names: list[str] | None, axis: Axis) -> tuple[list[float], list[float]]:
    """Places and values, without what has none or cannot stand on a log axis."""
    places = [float(x) for x in series.x] if names is None else [names.index(str(x)) for x in series.x]
    known = [
        (place, value)
        for place, value in zip(places, series.y, strict=True)
        if value is not None and (value > 0 or axis.scale != "log")
    ]
    return [place for place, _ in known], [value for _, value in known]


def _line(series: Series) -> dict[str, Any]:
    if series.mark == "points":
        return {"linestyle": "none", "marker": "o"}
    dash = _DASHES.get(series.style.dash, "--")
    return {"linestyle": dash, "marker": "o" if series.mark == "line and points" else "none"}


def _handles(axes: Any) -> list[Any]:
    return list(axes.get_legend_handles_labels()[0])


def _colour(style: Style) -> str:
    if isinstance(style.colour, str):
        return _MEANINGS[style.colour]
    return _COLOURS[style.colour % len(_COLOURS)]


def _plain(text: str) -> str:
    """A dollar would begin a formula."""
    return text.replace("$", r"\$")
