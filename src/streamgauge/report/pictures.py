"""What a knob does, as SVG and PNG, drawn without a browser."""

from __future__ import annotations

import io
import math
from typing import Any

from streamgauge.report.knob_points import KnobPlot, Panel

_COLOURS = ("#0b62c4", "#d9730d", "#0f8a7e", "#8250df", "#c2377e", "#6b7685")
_STATISTICS = {"min": ("min_ms", 0.35), "avg": ("mean_ms", 0.65), "max": ("max_ms", 1.0)}
_LINES = {"KiB/s": ("kib_per_s", "-"), "msg/s": ("messages_per_s", ":")}
_GROUP_WIDTH = 0.8


def pictures(plot: KnobPlot) -> dict[str, bytes]:
    """By ending, `svg` and `png`."""
    # Drawing is for those who ask for it: the library takes a second to load.
    import matplotlib
    from matplotlib.figure import Figure

    columns = min(2, len(plot.panels))
    rows = math.ceil(len(plot.panels) / columns)
    # Without a date and random ids the same data give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "streamgauge", "font.size": 10}):
        figure = Figure(figsize=(7.5 * columns, 4.8 * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        for place, cell in enumerate(axes.flat):
            if place < len(plot.panels):
                _draw(plot, plot.panels[place], cell)
            else:
                cell.set_axis_off()
        handles = {handle.get_label(): handle for cell in figure.axes for handle in _handles(cell)}
        figure.legend(handles=list(handles.values()), fontsize=8, ncols=5, loc="outside lower center")
        if plot.notes:
            figure.suptitle(_plain(" ".join(plot.notes)), fontsize=8)
        made = {}
        for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            content = io.BytesIO()
            figure.savefig(content, format=ending, dpi=120, metadata=metadata)
            made[ending] = content.getvalue()
    return made


def _draw(plot: KnobPlot, panel: Panel, axes: Any) -> None:
    from matplotlib.ticker import EngFormatter, NullFormatter

    count = len(plot.series)
    width = _GROUP_WIDTH / (3 * count)
    throughput = axes.twinx()
    for statistic, (name, (field, shade)) in enumerate(_STATISTICS.items()):
        for number, series in enumerate(plot.series):
            shift = (statistic * count + number - (3 * count - 1) / 2) * width
            places, values = _known(plot, panel, series, field)
            if not values:
                continue
            style = {"color": _colour(number), "alpha": shade, "label": _plain(f"{name} {series}")}
            axes.bar([place + shift for place in places], values, width, **style)
    for name, (field, dash) in _LINES.items():
        for number, series in enumerate(plot.series):
            places, values = _known(plot, panel, series, field)
            if not values:
                continue
            style = {"color": _colour(number + count), "linestyle": dash, "marker": "o", "linewidth": 2}
            throughput.plot(places, values, label=_plain(f"{name} {series}"), **style)
    for axis, text in ((axes, "ms"), (throughput, "KiB/s, msg/s")):
        axis.set_yscale("log")
        axis.set_ylabel(text)
        # In full, where there is room for it: powers of ten are for those who read them daily.
        axis.yaxis.set_major_formatter(EngFormatter(sep=""))
        low, high = axis.get_ylim()
        axis.yaxis.set_minor_formatter(EngFormatter(sep="") if high < 10 * low else NullFormatter())
    axes.set_xticks(range(len(plot.values)), [plot.label(value) for value in plot.values])
    axes.set_xlim(-0.6, len(plot.values) - 0.4)
    axes.set_xlabel(plot.knob)
    axes.set_title(_plain(panel.title), fontsize=10)


def _handles(axes: Any) -> list[Any]:
    return list(axes.get_legend_handles_labels()[0])


def _known(plot: KnobPlot, panel: Panel, series: str, field: str) -> tuple[list[int], list[float]]:
    points = panel.points.get(series, {})
    found = [(place, getattr(points.get(value), field, None)) for place, value in enumerate(plot.values)]
    known = [(place, value) for place, value in found if value is not None and value > 0]
    return [place for place, _ in known], [value for _, value in known]


def _plain(text: str) -> str:
    """A dollar would begin a formula."""
    return text.replace("$", r"\$")


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]
