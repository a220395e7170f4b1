"""Plots of a comparison: the ratios as a heat map, and the time of every repetition."""

from __future__ import annotations

import math
from statistics import median

from streamgauge.core.steady_state import LEAST_SLOTS
from streamgauge.families.compare.document import Compared, Conditions, OfBoth
from streamgauge.families.compare.places import OPERATION_NAMES, bytes_text
from streamgauge.families.compare.words import (
    cell_name,
    interval_text,
    p_text,
    side_name,
    verdict_mark,
    verdict_text,
)
from streamgauge.report.cause_words import cause_text
from streamgauge.report.plot_parts import (
    Axis,
    HeatCell,
    HeatMap,
    NumberText,
    Plot,
    Series,
    Style,
    Tick,
    line_style,
    short,
)
from streamgauge.report.quantities import count_text, digits_text, percent_text
from streamgauge.report.result_tables import Row

_LEAST_SPAN = 1.0
"""Doublings up and down that the colours span at least: a few percent are not to look like much."""
_MOST_SPAN = 5.0
_JITTER = {"a": -0.22, "control": 0.0, "b": 0.22}
_STYLES = {
    "a": Style(2, symbol="circle", opacity=0.75),
    "control": Style(5, symbol="cross", opacity=0.75),
    "b": Style(1, symbol="diamond", opacity=0.75),
}


def heat_map(title: str, conditions: Conditions, found: dict[tuple[int, int], Compared]) -> HeatMap | None:
    """Median ratio of each cell; the interval and all else where it is read off."""
    lengths, counts = conditions.lengths, conditions.message_counts
    grid = [[_cell(found.get((messages, length)), conditions) for length in lengths] for messages in counts]
    known = [abs(cell.value) for line in grid for cell in line if cell and cell.value is not None]
    if not known:
        return None
    span = min(_MOST_SPAN, max(_LEAST_SPAN, math.ceil(max(known))))
    return HeatMap(
        title,
        Axis("length", "names", has_grid=False),
        Axis("messages", "names", is_downwards=True, has_grid=False),
        columns=[bytes_text(length) for length in lengths],
        rows=[count_text(messages) for messages in counts],
        cells=grid,
        span=span,
        ticks=[
            Tick(at, f"{percent_text(100 * 2**at)}%")
            for at in sorted({-span, -span / 2, 0.0, span / 2, span})
        ],
    )


def repetitions_figure(
    title: str, conditions: Conditions, cells: list[Compared], rows: list[Row]
) -> Plot | None:
    """Every repetition's time a message: humps, drift and outliers are to be seen, not believed."""
    places = {(cell.messages, cell.length): number for number, cell in enumerate(cells)}
    series = []
    for side in _JITTER:
        shown = [
            row
            for row in rows
            if row["side"] == side and row["repetition"] >= 0 and row["elapsed_us"] is not None
        ]
        series.append(
            Series(
                side_name(side, conditions),
                [round(places[_place(row)] + _shift(side, row, conditions), 3) for row in shown],
                [short(row["elapsed_us"] / row["messages"]) for row in shown],
                _STYLES[side],
                "points",
                NumberText("figures", 4, "µs a message"),
                [f"repetition {row['repetition'] + 1}" for row in shown],
            )
        )
    if not any(line.y for line in series):
        return None
    ticks = [Tick(number, cell_name(cell)) for number, cell in enumerate(cells)]
    return Plot(
        title,
        series,
        Axis(ticks=ticks, has_grid=False),
        Axis("µs a message", "log"),
        note="Within a cell repetitions run from left to right.",
    )


def warm_up_figure(conditions: Conditions) -> Plot | None:
    """What each block took against the last of them: where it is flat, the library is at rest."""
    lines = [
        Series(
            f"{side_name(found.side, conditions)}, {OPERATION_NAMES[operation].lower()}",
            list(range(1, len(times) + 1)),
            [short(time_us / median(times[-LEAST_SLOTS:])) for time_us in times],
            line_style(number, 2),
            told=NumberText("exactly", 2, "×"),
            labels=[f"{digits_text(time_us)} µs" for time_us in times],
        )
        for number, (found, operation, times) in enumerate(
            (found, operation, times)
            for found in conditions.warm_up
            for operation, times in found.blocks_us.items()
        )
    ]
    if not lines:
        return None
    return Plot(
        "Warm-up: time of a block of messages against its level at the end",
        lines,
        Axis("block", from_zero=True),
        Axis("times its level at the end", "log"),
        reading="across",
    )


def _place(row: Row) -> tuple[int, int]:
    return row["messages"], row["length"]


def _shift(side: str, row: Row, conditions: Conditions) -> float:
    done = row["repetition"] / max(1, conditions.repeat - 1) - 0.5
    return _JITTER[side] + 0.16 * float(done)


def _doublings(row: Compared) -> float | None:
    ratio = row.ratio_percent.median
    return None if not ratio else round(math.log2(ratio / 100), 4)


def _cell(row: Compared | None, conditions: Conditions) -> HeatCell | None:
    if row is None:
        return None

    def pair(what: str, values: OfBoth) -> str:
        return f"{what} A {digits_text(values.a)}, B {digits_text(values.b)}"

    ratios = row.ratio_percent
    about = [
        f"A/B {percent_text(ratios.median)}%, 95% interval {interval_text(row.interval_percent)}%",
        f"p {p_text(row.p)} (Holm), {row.pairs} pairs",
        f"means {percent_text(ratios.mean)}%, SD {percent_text(ratios.sd)}%",
        pair("median µs:", OfBoth(a=row.a.median_us, b=row.b.median_us)),
        pair("CPU µs a message:", row.cpu_us_per_message),
        f"control {interval_text(row.control.interval_percent)}%: {row.control.verdict.value}",
        *(cause_text(cause) for cause in (*row.integrity.causes, *row.validity.causes)),
    ]
    return HeatCell(
        _doublings(row),
        [f"{percent_text(ratios.median)}%", verdict_mark(row)],
        f"{cell_name(row)}: {verdict_text(row, conditions)}",
        about,
    )
