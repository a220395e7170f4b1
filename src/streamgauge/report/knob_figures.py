"""What a knob does, as figures: latency as boxes on a log axis, throughput as lines on a second one."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.report.knob_points import KnobPlot, Panel
from streamgauge.report.plot_parts import Axis, Dash, NumberText, Plot, Series, Style, short, value_axis

_STATISTICS = {"min": ("min_ms", 0.4), "mean": ("mean_ms", 0.7), "max": ("max_ms", 1.0)}
_RATES: dict[str, tuple[str, Dash]] = {"KiB/s": ("kib_per_s", "solid"), "msg/s": ("messages_per_s", "dotted")}


def knob_figures(plot: KnobPlot) -> list[Plot]:
    """One for each panel."""
    return [_figure(plot, panel) for panel in plot.panels]


def _figure(plot: KnobPlot, panel: Panel) -> Plot:
    labels = [plot.label(value) for value in plot.values]
    boxes = [
        Series(
            f"{statistic} {series}",
            labels,
            values,
            Style(number, opacity=shade),
            "bars",
            NumberText("up to", 3, "ms"),
        )
        for statistic, (field, shade) in _STATISTICS.items()
        for number, series, values in _known(plot, panel, field)
    ]
    lines = [
        Series(
            f"{unit} {series}",
            labels,
            values,
            # Not the colour of a box, in front of which it would not be seen.
            Style(number + len(plot.series), 2.5, dash),
            "line and points",
            NumberText("scaled", 4, unit),
            on_second_axis=True,
        )
        for unit, (field, dash) in _RATES.items()
        for number, series, values in _known(plot, panel, field)
    ]
    title = f"Latency and throughput by {plot.knob}"
    return Plot(
        f"{title}: {panel.title}" if panel.title else title,
        [*boxes, *lines],
        Axis(plot.knob, "names"),
        value_axis(boxes, "ms"),
        value_axis(lines, "KiB/s, msg/s") if lines else None,
        "across",
        note=" ".join(plot.notes) or None,
    )


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
