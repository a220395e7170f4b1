from __future__ import annotations

from streamgauge.report.figure_values import figure_values
from streamgauge.report.plot_parts import Axis, Band, HeatCell, HeatMap, NumberText, Plot, Series, Style, Tick

MS = NumberText("up to", 3, "ms")
LINE = Series("a <b>", [1, 2], [3.0, None], Style(0, 2, "dashed"), told=MS)


def test_a_line_over_two_axes() -> None:
    made = figure_values(Plot("t", [LINE], Axis("s", from_zero=True), Axis("ms", "log"), note="n"))
    assert (made["kind"], made["title"], made["reading"]) == ("plot", "t", "point")
    assert made["x"] == {"title": "s", "scale": "linear", "fromZero": True}
    assert made["y"] == {"title": "ms", "scale": "log"}
    [line] = made["series"]
    assert line == {
        "name": "a <b>",
        "mark": "line",
        "colour": "line-1",
        "width": 2,
        "dash": "dashed",
        "told": {"digits": "up to", "count": 3, "unit": "ms"},
        "x": [1, 2],
        "y": [3.0, None],
    }
    assert not {"y2", "bands"} & set(made)


def test_bars_and_what_stands_on_the_second_axis() -> None:
    bars = Series("b", ["x"], [1.0], Style(7, opacity=0.4), "bars", MS)
    rate = Series("r", ["x"], [9.0], Style(1), "line and points", MS, on_second_axis=True)
    x, y = Axis("knob", "names"), Axis("ms", "log", by_decades=True)
    made = figure_values(Plot("t", [bars, rate], x, y, Axis("/s", "log"), "across"))
    first, second = made["series"]
    assert (first["mark"], first["colour"], first["opacity"]) == ("bars", "line-2", 0.4)
    assert (second["second"], second["mark"]) == (True, "line and points")
    assert (made["x"]["scale"], made["y"]["byDecades"], made["y2"]["scale"]) == ("names", True, "log")
    assert made["reading"] == "across"


def test_points_have_symbols_and_labels_and_guides_tell_nothing() -> None:
    points = Series("p", [1], [0.0], Style(0, symbol="cross"), "points", NumberText("figures", 4), ["<1>"])
    guide = Series("g", [1, 1], [0.0, 1.0], Style("bad", 1.5, "dotted"))
    first, second = figure_values(Plot("t", [points, guide], Axis(has_grid=False), Axis()))["series"]
    assert (first["symbol"], first["labels"], first["y"]) == ("cross", ["<1>"], [0.0])
    assert "told" not in second
    assert second["colour"] == "bad"


def test_bands_ticks_and_grid() -> None:
    axis = Axis(ticks=[Tick(0, "50%"), Tick(1, "90%")], has_grid=False)
    made = figure_values(Plot("t", [LINE], axis, Axis(), bands=[Band("warm-up", 0, 4)]))
    assert made["bands"] == [{"name": "warm-up", "start": 0, "end": 4}]
    assert made["x"] == {"scale": "linear", "ticks": [(0, "50%"), (1, "90%")], "grid": False}


def test_cells_of_a_heat_map_and_gaps_in_it() -> None:
    cell = HeatCell(0.5, ["141%", "A<"], "1 × 1 B: slower", ["p < 0.01"])
    names = Axis("messages", "names", is_downwards=True)
    heat = HeatMap("t", Axis("length"), names, ["1 B", "2 B"], ["1"], [[cell, None]], 1.0, [Tick(0, "100%")])
    made = figure_values(heat)
    [[first, gap]] = made["cells"]
    assert (first["value"], first["lines"], first["about"], gap) == (0.5, ["141%", "A<"], ["p < 0.01"], None)
    assert (made["kind"], made["span"], made["ticks"], made["y"]["down"]) == (
        "heat",
        1.0,
        [(0, "100%")],
        True,
    )
