"""What a knob does, as figures: latency as boxes on a log axis, throughput as lines on a second one."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.report.knob_points import KnobPlot, Panel
from streamgauge.report.plot_parts import Trace, plain, short, value_axis
from streamgauge.report.shown import Figure

_STATISTICS = {"min": ("min_ms", 0.4), "avg": ("mean_ms", 0.7), "max": ("max_ms", 1.0)}
_RATES = {"KiB/s": ("kib_per_s", "solid"), "msg/s": ("messages_per_s", "dot")}
_PALETTE_SIZE = 6


def knob_figures(plot: KnobPlot) -> list[Figure]:
    """One for each panel."""
    return [_figure(plot, panel) for panel in plot.panels]


def _figure(plot: KnobPlot, panel: Panel) -> Figure:
    labels = [plot.label(value) for value in plot.values]
    boxes, lines = [], []
    for statistic, (field, shade) in _STATISTICS.items():
        for number, series, values in _known(plot, panel, field):
            boxes.append(
                {
                    "type": "bar",
                    "name": plain(f"{statistic} {series}"),
                    "x": labels,
                    "y": values,
                    "marker": {"color": _colour(number), "opacity": shade},
                    "hovertemplate": "%{y:,.3~f} ms",
                }
            )
    for unit, (field, dash) in _RATES.items():
        for number, series, values in _known(plot, panel, field):
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": plain(f"{unit} {series}"),
                    "x": labels,
                    "y": values,
                    "yaxis": "y2",
                    # Not the colour of a box, in front of which it would not be seen.
                    "line": {"color": _colour(number + len(plot.series)), "width": 2.5, "dash": dash},
                    "hovertemplate": f"%{{y:,.4~s}} {unit}",
                }
            )
    title = f"Latency and throughput by {plot.knob}"
    layout = {
        "barmode": "group",
        "xaxis": {"title": {"text": plot.knob}, "type": "category"},
        "yaxis": value_axis(boxes, "ms"),
        "yaxis2": _second_axis(lines),
        "hovermode": "x unified",
    }
    note = " ".join(plot.notes) or None
    return Figure(f"{title}: {panel.title}" if panel.title else title, [*boxes, *lines], layout, note)


def _second_axis(lines: list[Trace]) -> Trace:
    # Its own round figures, not whatever stands beside those of the first axis.
    own: Trace = {"overlaying": "y", "side": "right", "tickformat": ".3~s", "tickmode": "linear"}
    if not lines:
        return {"title": {"text": ""}, **own}
    axis = value_axis(lines, "KiB/s, msg/s")
    return {"dtick": "D2", **axis, **own}


def _known(plot: KnobPlot, panel: Panel, field: str) -> Iterator[tuple[int, str, list[float | None]]]:
    """The series that have such figures, with their place among all."""
    for number, series in enumerate(plot.series):
        values = [_value(panel, series, value, field) for value in plot.values]
        if any(value is not None for value in values):
            yield number, series, values


def _value(panel: Panel, series: str, value: object, field: str) -> float | None:
    point = panel.points.get(series, {}).get(value)
    found = None if point is None else getattr(point, field)
    return None if found is None else short(found)


def _colour(number: int) -> str:
    return f"var(--line-{number % _PALETTE_SIZE + 1})"
