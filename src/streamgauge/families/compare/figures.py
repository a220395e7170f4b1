"""Plots of a comparison: the ratios as a heat map, and the time of every repetition."""

from __future__ import annotations

import math

from streamgauge.families.compare.document import Compared, Conditions, OfBoth
from streamgauge.families.compare.words import (
    bytes_text,
    cell_name,
    interval_text,
    p_text,
    verdict_mark,
    verdict_text,
)
from streamgauge.report.cause_words import cause_text
from streamgauge.report.plot_parts import Trace, plain, short
from streamgauge.report.quantities import count_text, digits_text, percent_text
from streamgauge.report.result_tables import Row
from streamgauge.report.shown import Figure

# Strong enough to be told apart, faint enough to read on in light and dark.
_A_BETTER, _EVEN, _B_BETTER = "rgba(15,138,126,.75)", "rgba(128,138,150,.10)", "rgba(217,115,13,.75)"
_LEAST_SPAN = 1.0
"""Doublings up and down that the colours span at least: a few percent are not to look like much."""
_MOST_SPAN = 5.0
_JITTER = {"a": -0.22, "control": 0.0, "b": 0.22}
_MARKS = {
    "a": ("circle", "var(--line-3)"),
    "control": ("cross", "var(--line-6)"),
    "b": ("diamond", "var(--line-2)"),
}


def heat_map(title: str, conditions: Conditions, found: dict[tuple[int, int], Compared]) -> Figure | None:
    """Median ratio of each cell; the interval and all else on hover."""
    lengths, counts = conditions.lengths, conditions.message_counts
    grid = [[found.get((messages, length)) for length in lengths] for messages in counts]
    powers = [[_doublings(row) for row in line] for line in grid]
    known = [abs(value) for line in powers for value in line if value is not None]
    if not known:
        return None
    span = min(_MOST_SPAN, max(_LEAST_SPAN, math.ceil(max(known))))
    ticks = sorted({-span, -span / 2, 0.0, span / 2, span})
    trace: Trace = {
        "type": "heatmap",
        "x": [bytes_text(length) for length in lengths],
        "y": [count_text(messages) for messages in counts],
        "z": powers,
        "zmin": -span,
        "zmax": span,
        "colorscale": [[0, _A_BETTER], [0.5, _EVEN], [1, _B_BETTER]],
        "xgap": 2,
        "ygap": 2,
        "text": [[_label(row) for row in line] for line in grid],
        "texttemplate": "%{text}",
        "textfont": {"size": 12, "color": "var(--text)"},
        "hovertext": [[_hover(row, conditions) for row in line] for line in grid],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        "colorbar": {
            "thickness": 10,
            "outlinewidth": 0,
            "tickvals": ticks,
            "ticktext": [f"{percent_text(100 * 2**tick)}%" for tick in ticks],
            "tickfont": {"size": 11},
        },
    }
    layout = {
        "xaxis": {"title": {"text": "length"}, "type": "category", "showgrid": False},
        "yaxis": {
            "title": {"text": "messages"},
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
        },
        "hovermode": "closest",
    }
    return Figure(title, [trace], layout)


def repetitions_figure(
    title: str, conditions: Conditions, cells: list[Compared], rows: list[Row]
) -> Figure | None:
    """Every repetition's time a message: humps, drift and outliers are to be seen, not believed."""
    places = {(cell.messages, cell.length): number for number, cell in enumerate(cells)}
    names = {"a": conditions.a.name, "control": "control (A again)", "b": conditions.b.name}
    data: list[Trace] = []
    for side, name in names.items():
        shown = [
            row
            for row in rows
            if row["side"] == side and row["repetition"] >= 0 and row["elapsed_us"] is not None
        ]
        symbol, colour = _MARKS[side]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain(name),
                "x": [round(places[_place(row)] + _shift(side, row, conditions), 3) for row in shown],
                "y": [short(row["elapsed_us"] / row["messages"]) for row in shown],
                "text": [f"repetition {row['repetition'] + 1}" for row in shown],
                "marker": {"symbol": symbol, "size": 5, "color": colour, "opacity": 0.75},
                "hovertemplate": "%{text}: %{y:,.4~g} µs a message",
            }
        )
    if not any(line["y"] for line in data):
        return None
    layout = {
        "xaxis": {
            "tickvals": list(range(len(cells))),
            "ticktext": [plain(cell_name(cell)) for cell in cells],
            "tickangle": -45 if len(cells) > 3 else 0,
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {"title": {"text": "µs a message"}, "type": "log"},
        "hovermode": "closest",
    }
    return Figure(title, data, layout, "Within a cell repetitions run from left to right.")


def _place(row: Row) -> tuple[int, int]:
    return row["messages"], row["length"]


def _shift(side: str, row: Row, conditions: Conditions) -> float:
    done = row["repetition"] / max(1, conditions.repeat - 1) - 0.5
    return _JITTER[side] + 0.16 * float(done)


def _doublings(row: Compared | None) -> float | None:
    ratio = row.ratio_percent.median if row else None
    return None if not ratio else round(math.log2(ratio / 100), 4)


def _label(row: Compared | None) -> str:
    return "" if row is None else f"{percent_text(row.ratio_percent.median)}%<br>{verdict_mark(row)}"


def _hover(row: Compared | None, conditions: Conditions) -> str:
    if row is None:
        return ""

    def pair(what: str, values: OfBoth) -> str:
        return f"{what} A {digits_text(values.a)}, B {digits_text(values.b)}"

    ratios = row.ratio_percent
    lines = [
        f"<b>{cell_name(row)}: {plain(verdict_text(row, conditions))}</b>",
        f"A/B {percent_text(ratios.median)}%, 95% interval {interval_text(row.interval_percent)}%",
        f"p {p_text(row.p)} (Holm), {row.pairs} pairs",
        f"means {percent_text(ratios.mean)}%, SD {percent_text(ratios.sd)}%",
        pair("median µs:", OfBoth(a=row.a.median_us, b=row.b.median_us)),
        pair("CPU µs a message:", row.cpu_us_per_message),
        f"control {interval_text(row.control.interval_percent)}%: {row.control.verdict.value}",
    ]
    causes = (*row.integrity.causes, *row.validity.causes)
    return "<br>".join(lines + [plain(cause_text(cause)) for cause in causes])
