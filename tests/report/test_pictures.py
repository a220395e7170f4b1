from __future__ import annotations

from xml.etree import ElementTree

import pytest

from streamgauge.report.pictures import pictures
from streamgauge.report.plot_parts import Axis, Plot, Series, Style

LOG = Axis("ms", "log")


def texts(svg: bytes) -> str:
    """Matplotlib draws letters as shapes, and says in a comment what they spell."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    drawing = ElementTree.fromstring(svg, parser)
    return " ".join(node.text or "" for node in drawing.iter() if node.tag is ElementTree.Comment)


def test_all_plots_stand_in_one_picture_with_one_legend() -> None:
    plots = [
        Plot(title, [Series("costs $5", [1, 10], [1.0, 2.0], Style(0))], Axis("clients", "log"), LOG)
        for title in ("first", "second", "third")
    ]
    made = pictures(plots, "A note.")
    assert made["png"].startswith(b"\x89PNG")
    written = texts(made["svg"])
    for words in ("first", "second", "third", "clients", "ms", "A note."):
        assert words in written
    assert written.count("costs $5") + written.count(r"costs \$5") == 1


def test_bars_of_one_name_stand_beside_each_other_and_lines_on_the_second_axis() -> None:
    series = [
        Series("min", ["a", "b"], [1.0, 2.0], Style(0, opacity=0.4), "bars"),
        Series("max", ["a", "b"], [2.0, 4.0], Style(1), "bars"),
        Series(
            "per s",
            ["a", "b"],
            [10.0, 20.0],
            Style(2, dash="dotted"),
            "line and points",
            None,
            (),
            True,
        ),
    ]
    plot = Plot("t", series, Axis("knob", "names"), LOG, Axis("msg/s", "log"))
    written = texts(pictures([plot])["svg"])
    for words in ("min", "max", "per s", "knob", "msg/s"):
        assert words in written


@pytest.mark.parametrize("values", [[None, None], [0.0, -1.0]])
def test_a_series_without_a_place_on_the_axis_is_left_out(values: list[float | None]) -> None:
    series = [
        Series("unseen", [1, 2], values, Style("bad")),
        Series("seen", [1, 2], [1.0, 2.0], Style("good"), "points"),
    ]
    written = texts(pictures([Plot("t", series, Axis("x"), LOG)])["svg"])
    assert "unseen" not in written
    assert "seen" in written


def test_on_a_linear_axis_zero_has_a_place() -> None:
    plot = Plot("t", [Series("flat", [1, 2], [0.0, 0.0], Style(0))], Axis("x"), Axis("y"))
    assert "flat" in texts(pictures([plot])["svg"])
