"""What people see of a comparison: console, Markdown, CSV and page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.families.compare.places import bytes_text
from streamgauge.families.compare.words import interval_text, p_text
from streamgauge.report.csv_files import results_csv
from streamgauge.report.quantities import percent_text
from streamgauge.report.results import results_document
from streamgauge.report.write import write_report
from tests.report.chromium import Chromium
from tests.report.sample_comparison import HOSTILE, compared_run
from tests.report.seen import console_text, own_part, page, words

DEFAULT_MATRIX = {
    "lengths": [10, 100, 1000, 10_000, 100_000],
    "messages": [10, 100, 1000, 10_000],
    "repeat": 6,
}


@pytest.fixture
def compared(tmp_path: Path) -> RunDir:
    return compared_run(tmp_path)


def test_the_console_has_a_matrix_for_each_operation_and_temperature(compared: RunDir) -> None:
    text = console_text(compared)
    for heading in ("Produce, cold", "Produce, warm", "Consume, cold", "Consume, warm"):
        assert heading in text
    said = " ".join(text.split())
    assert "2 missing of 1,440 messages" in said
    assert "A: 68.00 to 68.00 JNI calls a message" in said
    assert "• consume cold 5 × 100 B: 1 of 39 trials failed" in said
    assert "integrity messages lost" in said
    assert "validity do not quote produce warm 5 × 10 B: the control found that A differs" in said
    assert re.search(r"\d A! \[", text), "a tainted verdict is marked"


def test_the_console_has_the_times_of_both_with_their_ratios_and_the_totals(compared: RunDir) -> None:
    lines = [line.split() for line in console_text(compared).splitlines()]
    assert lines.count(["cell", "count", "max", "min", "mean", "SD", "CV", "median"]) == 4
    row = next(line for line in lines if line[:6] == ["5", "×", "10", "B", "·", "one"])
    assert len(row) == 6 + 7
    assert ["operation", "A", "one", "B", "two", "A/B", "pairs"] in lines
    assert [line[0] for line in lines if line and line[0] in ("all", "Produce", "Consume")][:1] == ["all"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"repeat": 24}, "decided after 24 rounds"),
        ({"repeat": 7}, "still open at the time limit, after 7 rounds"),
    ],
)
def test_until_decided_is_said_everywhere(tmp_path: Path, options: dict[str, int], said: str) -> None:
    run = compared_run(tmp_path, until_decided=True, time_limit="10m", **options)
    write_report(run)
    limit = "and more wherever a verdict is open, for 600 s at most"
    for text in (console_text(run), run.read_text(run.report_markdown), words(page(run))):
        shown = " ".join(text.split())
        assert said in shown
        assert limit in shown
    assert "holds however often one looks" in words(page(run))
    assert "BCa" not in words(page(run))


def test_a_given_number_of_rounds_says_nothing_of_deciding(compared: RunDir) -> None:
    assert "Until decided" not in console_text(compared)
    assert "BCa" in words(page(compared))


def test_the_default_matrix_is_read_on_80_columns(tmp_path: Path) -> None:
    text = console_text(compared_run(tmp_path, **DEFAULT_MATRIX))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "…" not in text


def test_markdown_has_every_figure_and_no_foreign_markup(compared: RunDir) -> None:
    write_report(compared)
    text = compared.read_text(compared.report_markdown)
    assert text.startswith("# compare\n")
    assert "A one (simulated)" in text
    assert "## Consume, warm" in text
    assert re.search(r"\| 5 \| \d\d\.\d A \\\[\d\d\.\d–\d\d\.\d\\\] \|", text)
    assert HOSTILE not in text
    assert "it never lingers" in text


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
    wanted = {"ratio_percent.median", "jni_calls_per_message.a", "verdict", "integrity.verdict"}
    assert wanted <= set(header.split(","))
    assert len(rows) == 8


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (8.036, "8.04"), (87.26, "87.3"), (104.4, "104"), (2102.3, "2,102")]
)
def test_percent_have_three_figures(value: float | None, text: str) -> None:
    assert percent_text(value) == text


def test_small_words() -> None:
    assert interval_text(None) == "–"
    assert interval_text((1.0, 120.0)) == "1.00–120"
    assert [p_text(p) for p in (None, 0.00001, 0.01234, 0.5)] == ["–", "< 0.0001", "0.0123", "0.50"]
    assert [bytes_text(n) for n in (10, 1000, 1024, 100_000)] == ["10 B", "1,000 B", "1.0 KiB", "100,000 B"]


def test_the_page_has_verdicts_on_top_and_says_what_is_wrong(compared: RunDir) -> None:
    text = words(page(compared))
    assert "8 of 8 decided" in text
    assert "2 missing of 1,440" in text
    assert "7 of 8 held" in text
    assert "Validitydo not quote" in text
    assert "A faster: one – but the control failed" in text
    assert "no equivalent: it never lingers" in text


def test_the_page_cannot_be_injected_into_and_loads_nothing(compared: RunDir) -> None:
    own = own_part(page(compared))
    assert HOSTILE not in own
    assert not re.search(r"url\(|@import|https?://", own)


@pytest.mark.browser
def test_a_cell_tells_its_interval_on_hover(tmp_path: Path) -> None:
    made = Path(write_report(compared_run(tmp_path / "run", **DEFAULT_MATRIX)))
    with Chromium(tmp_path / "profile") as browser:
        browser.open(made, 1280, 30_000)
        browser.wait_for(
            "document.documentElement.dataset.drawn === document.documentElement.dataset.figures"
        )
        box = browser.evaluate("document.querySelector('.plot .reader').getBoundingClientRect().toJSON()")
        # Within the first of five columns and of four rows.
        place = {"x": box["left"] + box["width"] / 10, "y": box["top"] + box["height"] / 8}
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
        browser.wait_for("document.querySelector('.plot .told').textContent.includes('95% interval')")
        shown = browser.evaluate("document.querySelector('.plot .told').textContent")
        assert "10 × 10 B" in shown
        assert "CPU µs a message" in shown


def test_how_many_messages_each_library_took_to_warm_up_is_shown(compared: RunDir) -> None:
    said = " ".join(console_text(compared).split())
    assert "control (A again) 120,000 4.200 s at rest" in said
    write_report(compared)
    assert "Warm-up: time of a block of messages" in page(compared)
    document = results_document(compared).model_dump(mode="json")["comparison"]
    assert document["warm_up_messages"] is None
    assert [(each["side"], each["messages"]) for each in document["warm_up"]] == [
        ("a", 120_000),
        ("b", 120_000),
        ("control", 120_000),
    ]


def test_a_warm_up_of_so_many_messages_has_no_course(tmp_path: Path) -> None:
    run = compared_run(tmp_path, warm_up_messages=500)
    run.remove(run.warm_ups)
    document = results_document(run).model_dump(mode="json")["comparison"]
    assert (document["warm_up_messages"], document["warm_up"]) == (500, [])
    assert "control (A again)" not in console_text(run)
