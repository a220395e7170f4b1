from __future__ import annotations

from streamgauge.report.plot_parts import Axis, Band, HeatCell, HeatMap, NumberText, Plot, Series, Style, Tick
from streamgauge.report.plotly_figures import plotly_figure

MS = NumberText("up to", 3, "ms")
LINE = Series("a <b>", [1, 2], [3.0, None], Style(0, 2, "dashed"), told=MS)


def test_a_line_over_two_axes() -> None:
    made = plotly_figure(Plot("t", [LINE], Axis("s", from_zero=True), Axis("ms", "log"), note="n"))
    assert (made["title"], made["note"]) == ("t", "n")
    [line] = made["data"]
    assert (line["type"], line["mode"], line["x"], line["y"]) == ("scatter", "lines", [1, 2], [3.0, None])
    assert line["name"] == "a &lt;b&gt;"
    assert line["line"] == {"color": "var(--line-1)", "width": 2, "dash": "dash"}
    assert line["hovertemplate"] == "%{y:,.3~f} ms"
    layout = made["layout"]
    assert layout["xaxis"] == {"title": {"text": "s"}, "type": "linear", "rangemode": "tozero"}
    assert layout["yaxis"] == {"title": {"text": "ms"}, "type": "log"}
    assert layout["hovermode"] == "closest"
    assert not {"yaxis2", "barmode", "shapes"} & set(layout)


def test_bars_and_what_stands_on_the_second_axis() -> None:
    bars = Series("b", ["x"], [1.0], Style(7, opacity=0.4), "bars", MS)
    rate = Series("r", ["x"], [9.0], Style(1), "line and points", MS, on_second_axis=True)
    x, y = Axis("knob", "names"), Axis("ms", "log", by_decades=True)
    plot = Plot("t", [bars, rate], x, y, Axis("/s", "log"), "across")
    made = plotly_figure(plot)
    first, second = made["data"]
    assert (first["type"], first["marker"]) == ("bar", {"color": "var(--line-2)", "opacity": 0.4})
    assert (second["yaxis"], second["mode"]) == ("y2", "lines+markers")
    layout = made["layout"]
    assert (layout["barmode"], layout["hovermode"]) == ("group", "x unified")
    assert (layout["xaxis"]["type"], layout["yaxis"]["dtick"]) == ("category", 1)
    # Ticks of an axis that overlays another are its own.
    assert (layout["yaxis2"]["dtick"], layout["yaxis2"]["side"]) == ("D2", "right")


def test_points_have_symbols_and_labels_and_guides_tell_nothing() -> None:
    points = Series("p", [1], [2.0], Style(0, symbol="cross"), "points", NumberText("figures", 4), ["<1>"])
    guide = Series("g", [1, 1], [0.0, 1.0], Style("bad", 1.5, "dotted"))
    first, second = plotly_figure(Plot("t", [points, guide], Axis(), Axis()))["data"]
    assert first["marker"]["symbol"] == "cross"
    assert first["text"] == ["&lt;1&gt;"]
    assert first["hovertemplate"] == "%{text}: %{y:,.4~g}"
    assert (second["hoverinfo"], second["line"]["color"]) == ("skip", "var(--bad)")


def test_long_names_of_many_ticks_are_slanted() -> None:
    def angle(*texts: str) -> int:
        axis = Axis(ticks=[Tick(place, text) for place, text in enumerate(texts)], has_grid=False)
        made = plotly_figure(Plot("t", [LINE], axis, Axis()))["layout"]["xaxis"]
        assert made["ticktext"] == list(texts)
        assert made["showgrid"] is False
        found: int = made["tickangle"]
        return found

    assert angle("50%", "90%", "99%", "99.9%", "99.99%", "99.999%") == 0
    assert angle(*["1,000 × 100 B"] * 3) == 0
    assert angle(*["1,000 × 100 B"] * 4) == -45


def test_a_band_is_shaded_and_named() -> None:
    layout = plotly_figure(Plot("t", [LINE], Axis(), Axis(), bands=[Band("warm-up", 0, 4)]))["layout"]
    [shape], [label] = layout["shapes"], layout["annotations"]
    assert (shape["x0"], shape["x1"], label["text"], label["x"]) == (0, 4, "warm-up", 0)


def test_cells_of_a_heat_map_and_gaps_in_it() -> None:
    cell = HeatCell(0.5, ["141%", "A<"], "1 × 1 B: slower", ["p < 0.01"])
    names = Axis("messages", "names", is_downwards=True)
    heat = HeatMap("t", Axis("length"), names, ["1 B", "2 B"], ["1"], [[cell, None]], 1.0, [Tick(0, "100%")])
    made = plotly_figure(heat)
    [trace] = made["data"]
    assert trace["z"] == [[0.5, None]]
    assert trace["text"] == [["141%<br>A&lt;", ""]]
    assert trace["hovertext"] == [["<b>1 × 1 B: slower</b><br>p &lt; 0.01", ""]]
    assert (trace["zmin"], trace["zmax"], trace["colorbar"]["ticktext"]) == (-1.0, 1.0, ["100%"])
    assert made["layout"]["yaxis"]["autorange"] == "reversed"
