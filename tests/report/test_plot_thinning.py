from __future__ import annotations

import math

from streamgauge.report.plot_parts import Axis, Plot, Series, Style
from streamgauge.report.plot_thinning import MOST_POINTS, points_each, thinned


def _plot(*lines: Series) -> Plot:
    return Plot("t", lines, Axis("seconds"), Axis("ms"))


def _line(values: list[float | None], name: str = "p99", start: float = 0) -> Series:
    return Series(name, [start + number for number in range(len(values))], values, Style(0))


def test_a_short_line_stays_as_it_is() -> None:
    plot = _plot(_line([1.0] * MOST_POINTS))
    assert thinned(plot) is plot


def test_every_stretch_keeps_its_least_and_its_greatest_where_they_were() -> None:
    values: list[float | None] = [10 + math.sin(second) for second in range(43_200)]
    values[20_000], values[31_234] = 900.0, 0.25
    plot = _plot(_line(values), _line([2.0, 3.0], "mark"))
    made = thinned(plot)
    line, short = made.series
    assert len(line.x) == len(line.y) <= MOST_POINTS
    assert short is plot.series[1]
    assert (20_000, 900.0) in zip(line.x, line.y, strict=True)
    assert (31_234, 0.25) in zip(line.x, line.y, strict=True)
    assert list(line.x) == sorted(line.x)
    assert made.stretch == math.ceil(43_199 / (MOST_POINTS // 2 - 2))
    assert made.note is not None
    assert f"every {made.stretch:g}" in made.note
    for begin in range(0, 43_200, int(made.stretch)):
        whole = [value for value in values[begin : begin + int(made.stretch)] if value is not None]
        kept = [y for x, y in zip(line.x, line.y, strict=True) if begin <= float(x) < begin + made.stretch]
        assert (min(whole), max(whole)) == (min(filter(None, kept)), max(filter(None, kept)))


def test_a_gap_is_not_bridged() -> None:
    values: list[float | None] = [1.0] * 5000
    values[2000:2010] = [None] * 10
    assert None in thinned(_plot(_line(values))).series[0].y


def test_what_is_no_course_is_not_thinned() -> None:
    bars = Series("b", list(range(2000)), [1.0] * 2000, Style(0), "bars")
    names = Series("n", [str(n) for n in range(2000)], [1.0] * 2000, Style(0))
    assert list(thinned(_plot(bars, names)).series) == [bars, names]


def test_labels_stay_with_their_points() -> None:
    line = Series(
        "l", list(range(2000)), list(range(2000)), Style(0), labels=[f"at {n}" for n in range(2000)]
    )
    made = thinned(_plot(line)).series[0]
    assert list(made.labels) == [f"at {x}" for x in made.x]


def test_many_plots_of_a_page_have_fewer_points_each() -> None:
    hour = _plot(*(_line([1.0] * 3600) for _ in range(20)))
    assert points_each([hour]) == MOST_POINTS
    assert points_each([hour] * 12) < MOST_POINTS
