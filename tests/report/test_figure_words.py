from __future__ import annotations

from streamgauge.report.figure_words import figure_words
from streamgauge.report.plot_parts import Axis, Band, HeatCell, HeatMap, NumberText, Plot, Series, Style

MS = NumberText("up to", 3, "ms")


def test_what_lines_show_is_said() -> None:
    lines = [
        Series("p50", [0, 1, 2], [2.0, None, 1.0], Style(0), told=MS),
        Series("one", [0], [4.0], Style(1), "points", NumberText("up to", 2)),
        Series("none", [0], [None], Style(1), told=MS),
        Series("guide", [0], [1.0], Style("bad")),
    ]
    plot = Plot("t", lines, Axis("seconds"), Axis("ms"), bands=[Band("warm-up", 0, 4)])
    assert figure_words(plot) == (
        "4 series over seconds. p50, line: from 1.000 to 2.000 ms, the last 1.000. one: 4.000 ms. "
        "none: no values. warm-up: from 0.000 to 4.000."
    )


def test_a_series_on_the_second_axis_has_its_unit() -> None:
    rate = Series("r", ["a", "b"], [5.0, 9.0], Style(1), "bars", NumberText("scaled", 4), on_second_axis=True)
    plot = Plot("t", [rate], Axis(), Axis("ms"), Axis("KiB/s"))
    assert figure_words(plot) == "1 series. r, bars: from 5.000 to 9.000 KiB/s, the last 9.000."


def test_a_map_says_every_cell() -> None:
    cell = HeatCell(0.5, ["141%", "B"], "1 × 1 B: B is faster", [])
    heat = HeatMap("t", Axis("length"), Axis("messages"), ["1 B", "2 B"], ["1"], [[cell, None]], 1.0, [])
    assert figure_words(heat) == "1 cell, messages by length. 1 × 1 B: B is faster, 141%."
