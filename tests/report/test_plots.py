from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from streamgauge.report.knob_figures import knob_figures
from streamgauge.report.knob_points import knob_plot
from streamgauge.report.page_frame import place_figures
from streamgauge.report.plots import plot_files

from .chromium import Chromium
from .plotted import document_of, point_case

DOCUMENT = document_of("r-1", [point_case(partitions=p, acks=a) for p in (1, 2) for a in ("1", "all")])


def test_every_form_of_a_plot() -> None:
    files = plot_files([DOCUMENT], None, with_page=True)
    endings = ("svg", "png", "dat", "gp", "html")
    assert sorted(files) == sorted(f"partitions.{ending}" for ending in endings)
    assert files["partitions.png"].startswith(b"\x89PNG")
    drawing = ElementTree.fromstring(files["partitions.svg"])
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert b"'partitions.dat'" in files["partitions.gp"]


def test_the_same_data_give_the_same_files() -> None:
    once, again = (plot_files([DOCUMENT], None, with_page=False) for _ in range(2))
    assert once == again
    assert "partitions.html" not in once


def test_without_a_knob_there_are_no_files() -> None:
    assert plot_files([document_of("r-1", [point_case()])], None, with_page=True) == {}


def test_figures_have_boxes_on_one_axis_and_lines_on_the_other() -> None:
    plot = knob_plot([DOCUMENT])
    assert plot is not None
    first, second = knob_figures(plot)
    assert [series.mark for series in first.series] == ["bars"] * 3 + ["line and points"] * 2
    assert [series.on_second_axis for series in first.series] == [False] * 3 + [True] * 2
    assert first.y.scale == "log"
    assert first.series[0].x == ["1", "2"]
    assert (first.title, second.title) == (
        "Latency and throughput by partitions: acks 1",
        "Latency and throughput by partitions: acks all",
    )
    places = place_figures({}, "sweep", [first, second])
    assert places.count("data-figure=") == 2


@pytest.mark.browser
def test_the_page_draws_all_of_it(tmp_path: Path) -> None:
    page = tmp_path / "plot.html"
    page.write_bytes(plot_files([DOCUMENT], None, with_page=True)["partitions.html"])
    with Chromium(tmp_path / "profile") as browser:
        browser.open(page, 1200, 1600)
        browser.wait_for("document.documentElement.dataset.drawn === '2'")
        assert browser.facts()["errors"] == "0"
        assert browser.troubles() == []
        boxes = (
            "Array.from(document.querySelectorAll('.drawing path.bars'), (bars) => bars.getAttribute('d'))"
        )
        # Two boxes in each of three series, in two plots.
        assert [path.count("M") for path in browser.evaluate(boxes)] == [2] * 6
