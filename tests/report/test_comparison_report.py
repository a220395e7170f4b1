"""What people see of a comparison: console, Markdown, CSV and page."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from plotly.offline import get_plotlyjs
from rich.console import Console

from streamgauge.core.run_dir import RunDir
from streamgauge.report.comparison_words import bytes_text, interval_text, p_text, percent_text
from streamgauge.report.console import print_results
from streamgauge.report.csv_files import results_csv
from streamgauge.report.write import write_report

from .chromium import Chromium
from .old_document import results_document
from .sample_comparison import HOSTILE, compared_run

DEFAULT_MATRIX = {
    "lengths": [10, 100, 1000, 10_000, 100_000],
    "messages": [10, 100, 1000, 10_000],
    "repeat": 6,
}


@pytest.fixture
def compared(tmp_path: Path) -> RunDir:
    return compared_run(tmp_path)


def console_text(run: RunDir) -> str:
    file = io.StringIO()
    print_results(results_document(run), Console(file=file, width=80))
    return file.getvalue()


def test_the_console_has_a_matrix_for_each_operation_and_temperature(compared: RunDir) -> None:
    text = console_text(compared)
    for heading in ("Produce, cold", "Produce, warm", "Consume, cold", "Consume, warm"):
        assert heading in text
    assert "2 missing of 1,440" in text
    assert "held in 7 of 8" in text
    assert "A: 68.00 to 68.00 JNI calls a message" in " ".join(text.split())
    assert "✗ consume cold 5 × 100 B: 1 of 39 trials failed" in " ".join(text.split())
    assert re.search(r"\d A!", text), "a tainted verdict is marked"


def test_the_default_matrix_fits_80_columns(tmp_path: Path) -> None:
    text = console_text(compared_run(tmp_path, **DEFAULT_MATRIX))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "…" not in text


def test_markdown_has_every_figure_and_no_foreign_markup(compared: RunDir) -> None:
    write_report(compared)
    text = compared.read_text(compared.report_markdown)
    assert text.startswith("# one (simulated) against two (simulated)\n")
    assert "## Consume, warm" in text
    assert re.search(r"\| 5 messages \| \d\d\.\d \[\d\d\.\d–\d\d\.\d\] A \|", text)
    assert "| A/B, mean % (SD %) | 10 B | 100 B |" in text
    assert HOSTILE not in text
    assert "it never lingers" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)


@pytest.mark.parametrize(
    ("options", "header"),
    [
        ({}, "NumPackets;Length;oneProd;oneCons;twoProd;twoCons"),
        ({"produce_only": True}, "NumPackets;Length;oneProd;twoProd"),
    ],
)
def test_repetitions_as_the_benchmark_that_this_follows_writes_them(
    tmp_path: Path, options: dict[str, Any], header: str
) -> None:
    run = compared_run(tmp_path, **options)
    write_report(run)
    for temperature in ("cold", "warm"):
        first, *rows = run.read_text(f"report/csv/repetitions-{temperature}.csv").splitlines()
        assert first == header
        assert len(rows) == 2 * 12
        cells = rows[0].split(";")
        assert cells[:2] == ["5", "10"]
        assert all(400 < int(cell) < 1400 for cell in cells[2:])
    if not options:
        rows = run.read_text("report/csv/repetitions-cold.csv").splitlines()
        assert rows[1 + 12 + 4].endswith(";"), "a repetition that failed has no time"


def test_one_row_of_csv_a_comparison(compared: RunDir) -> None:
    header, *rows = results_csv(results_document(compared)).splitlines()
    assert {"ratio_percent.median", "jni_calls_per_message.a", "verdict"} <= set(header.split(","))
    assert len(rows) >= 8


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (8.036, "8.04"), (87.26, "87.3"), (104.4, "104"), (2102.3, "2,102")]
)
def test_percent_have_three_figures(value: float | None, text: str) -> None:
    assert percent_text(value) == text


def test_small_words() -> None:
    assert interval_text(None) == "–"
    assert interval_text([1.0, 120.0]) == "1.00–120"
    assert [p_text(p) for p in (None, 0.00001, 0.01234, 0.5)] == ["–", "< 0.0001", "0.0123", "0.50"]
    assert [bytes_text(n) for n in (10, 1000, 1024, 100_000)] == ["10 B", "1,000 B", "1.0 KiB", "100,000 B"]


def own_part(run: RunDir) -> str:
    write_report(run)
    return run.read_text(run.report_page).replace(get_plotlyjs(), "")


def test_the_page_has_verdicts_on_top_and_says_what_is_wrong(compared: RunDir) -> None:
    text = re.sub(r"<[^>]+>", "", own_part(compared))
    assert "8 of 8 decided" in text
    assert "2 missing of 1,440" in text
    assert "7 of 8 held" in text
    assert "A faster: one – but the control failed" in text
    assert "no equivalent: it never lingers" in text


def test_the_page_cannot_be_injected_into_and_loads_nothing(compared: RunDir) -> None:
    own = own_part(compared)
    assert HOSTILE not in own
    assert not re.search(r"url\(|@import|https?://", own)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_report(compared_run(tmp_path_factory.mktemp("page"), **DEFAULT_MATRIX)))


@pytest.mark.browser
@pytest.mark.parametrize(
    "screen",
    [{"width": 1280}, {"width": 1280, "scheme": "dark"}, {"width": 390, "phone": True}],
    ids=["desktop", "dark", "phone"],
)
def test_a_browser_draws_every_plot(browser: Chromium, page: Path, screen: dict[str, Any]) -> None:
    browser.open(page, height=30_000, **screen)
    browser.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
    browser.wait_for("document.documentElement.dataset.drawn === document.documentElement.dataset.figures")
    facts = browser.facts()
    assert (facts["errors"], facts["overflow"], facts["figures"]) == ("0", "0", "8"), facts
    assert "injected" not in facts
    assert browser.troubles() == []
    heat_maps = "document.querySelectorAll('.heatmaplayer image').length"
    assert browser.evaluate(heat_maps) == 4


@pytest.mark.browser
def test_a_cell_tells_its_interval_on_hover(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, 30_000)
    browser.wait_for("document.documentElement.dataset.drawn === document.documentElement.dataset.figures")
    box = browser.evaluate("document.querySelector('.plot .nsewdrag').getBoundingClientRect().toJSON()")
    # Within the first of five columns and of four rows.
    place = {"x": box["left"] + box["width"] / 10, "y": box["top"] + box["height"] / 8}
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
    browser.wait_for("document.querySelector('.plot .hoverlayer').textContent.includes('95% interval')")
    shown = browser.evaluate("document.querySelector('.plot .hoverlayer').textContent")
    assert "10 × 10 B" in shown
    assert "CPU µs a message" in shown
