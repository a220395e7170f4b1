"""Latency by percentile, on an axis that gives every further nine the same room."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from streamgauge.report.case_document import Case, Statistics
from streamgauge.report.plot_parts import (
    Axis,
    NumberText,
    Plot,
    Series,
    Style,
    Tick,
    axis_note,
    line_style,
    short,
    value_axis,
)
from streamgauge.report.result_tables import Row
from streamgauge.report.words import LEG_NAMES, case_title

_CURVE_POINTS = 160
"""Of a percentile curve: more cannot be told apart on a screen."""

_LEG_STYLES = {
    "intended_to_received": Style(0, 3),
    "sent_to_received": Style(1, 1.75),
    "sent_to_acked": Style(2, 1.75),
    "sent_to_broker": Style(3, 1.5, "dashed"),
    "broker_to_received": Style(4, 1.5, "dashed"),
    "intended_to_sent": Style(5, 1.5, "dotted"),
}


def percentile_figure(case: Case, histogram: list[Row]) -> Plot | None:
    """Latency by percentile, one line a leg."""
    by_leg: dict[str, list[Row]] = defaultdict(list)
    for row in histogram:
        by_leg[row["leg"]].append(row)
    statistics = case.legs
    lines = [
        curve(by_leg[leg], statistics[leg], name, _LEG_STYLES[leg])
        for leg, name in LEG_NAMES.items()
        if by_leg[leg] and statistics[leg].count
    ]
    return percentile_plot("Latency by percentile", lines)


def side_by_side_figure(cases: list[tuple[Case, list[Row]]]) -> Plot | None:
    """The leg that speaks for each case, of all cases in one plot."""
    lines = []
    for number, (case, histogram) in enumerate(cases):
        leg = case.main_leg
        rows = [row for row in histogram if row["leg"] == leg]
        if rows and case.main_latency.count:
            note = "" if leg == "intended_to_received" else f" ({LEG_NAMES[leg]})"
            name = f"{case.case} {case_title(case)}{note}"
            lines.append(curve(rows, case.main_latency, name, line_style(number, 2)))
    return percentile_plot("Latency from the intended time, by percentile, all cases", lines)


def nines(quantile: float) -> float:
    """Where a quantile lies on the axis: 90% at 1, 99% at 2, 99.9% at 3 …"""
    return -math.log10(1 - quantile)


def curve(rows: list[Row], statistics: Statistics, name: str, style: Style) -> Series:
    """Percentiles out of a histogram, evenly spaced in nines, up to the maximum.

    They interpolate between neighbours, as the percentiles of table `latency` do.
    """
    ordered = sorted(rows, key=lambda row: row["value_ms"])
    values = np.array([row["value_ms"] for row in ordered])
    up_to = np.cumsum([row["count"] for row in ordered])
    total = int(up_to[-1])
    places = np.linspace(0, math.log10(total), _CURVE_POINTS if total > 1 else 1)
    quantiles = 1 - 10**-places
    ranks = quantiles * (total - 1)
    below, above = (values[np.searchsorted(up_to, side(ranks) + 1)] for side in (np.floor, np.ceil))
    points = below + (above - below) * (ranks - np.floor(ranks))
    # The ends are known exactly; buckets know them to 0.05%.
    points[0], points[-1] = statistics.min, statistics.max
    decimals = max(0, math.ceil(math.log10(total)) - 1)
    return Series(
        name,
        [round(float(place), 4) for place in places],
        [short(point) for point in points],
        style,
        told=NumberText("up to", 3, "ms"),
        labels=[f"{100 * quantile:.{decimals}f}%" for quantile in quantiles[:-1]] + ["max"],
    )


def percentile_plot(title: str, lines: list[Series]) -> Plot | None:
    if not lines:
        return None
    last = max(float(line.x[-1]) for line in lines)
    quantiles = [0.5, *(1 - 10.0**-n for n in range(1, math.floor(last + 0.05) + 1))]
    labels = ["50%"] + [f"{100 * at:.{max(0, n - 2)}f}%" for n, at in enumerate(quantiles[1:], 1)]
    ticks = [Tick(round(nines(at), 4), text) for at, text in zip(quantiles, labels, strict=True)]
    axis = value_axis(lines, "ms")
    return Plot(title, lines, Axis("percentile", ticks=ticks), axis, note=axis_note(lines, axis))
