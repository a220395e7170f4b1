"""A search in the document, on the console, in its CSV and on the page."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from streamgauge.core.run_dir import RunDir
from streamgauge.families.limit.search_file import SearchRecord, write_search
from streamgauge.report.console import print_results
from streamgauge.report.document import document_text
from streamgauge.report.limit_csv import COLUMNS, limit_csv
from streamgauge.report.limit_page import curve_figure
from streamgauge.report.page import render_page
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.schema import results_schema

from .old_document import results_document
from .sample_run import HOSTILE, limit_run, single_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return limit_run(tmp_path_factory.mktemp("limit") / "run")


@pytest.fixture(scope="module")
def document(run: RunDir) -> dict[str, Any]:
    return results_document(run)


def test_the_document_keeps_to_the_schema_and_has_the_answer(document: dict[str, Any]) -> None:
    jsonschema.validate(json.loads(document_text(document)), results_schema())
    limit = document["limit"]
    assert (limit["held_per_s"], limit["broken_per_s"], limit["ending"]) == (2000, 2828, "found")
    assert limit["took_s"] == 82.5
    assert [step["rate_per_s"] for step in limit["steps"]] == [1000, 2000, 2828, 4000]
    assert [step["holds"] for step in limit["steps"]] == [True, True, False, False]


def test_cases_that_break_beyond_the_limit_do_not_fail_the_run(document: dict[str, Any]) -> None:
    assert any(case["status"] == "failed" for case in document["cases"])
    assert document["status"] == "ok"


def test_the_bottleneck_is_that_of_the_lowest_rate_where_something_was_busy(document: dict[str, Any]) -> None:
    bottleneck = document["limit"]["bottleneck"]
    assert (bottleneck["limit"], bottleneck["case"]) == ("broker", "007")


def test_a_run_that_does_not_search_has_no_limit(tmp_path: Path) -> None:
    assert results_document(single_run(tmp_path / "run"))["limit"] is None


def test_the_console_says_it_in_80_columns(document: dict[str, Any]) -> None:
    text = io.StringIO()
    print_results(document, Console(file=text, width=80))
    said = text.getvalue()
    assert "2,000/s hold p99<20ms and lost=0; 2,828/s do not." in said
    assert "Bottleneck: broker" in said
    assert "009✗ 010✓ 011✗" in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_search_that_was_cut_off_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    run = limit_run(tmp_path / "run")
    write_search(run, SearchRecord())
    text = io.StringIO()
    print_results(results_document(run), Console(file=text, width=80))
    assert "Not known yet at which rate" in text.getvalue()
    assert "the search has not come to its end" in text.getvalue()
    render_page(results_document(run), ResultTables.read(run))


def test_the_csv_has_a_row_a_trial(document: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(limit_csv(document))))
    assert len(rows) == 11
    assert set(rows[0]) == set(COLUMNS)
    assert [row["holds"] for row in rows if row["rate_per_s"] == "2000.0"] == [
        "false",
        "false",
        "true",
        "true",
    ]


def test_the_curve_goes_through_the_trials_that_decided(document: dict[str, Any]) -> None:
    figure = curve_figure(document)
    assert figure is not None
    p99 = next(line for line in figure["data"] if line["name"] == "p99")
    by_case = {case["case"]: case["latency_ms"]["intended_to_received"]["p99"] for case in document["cases"]}
    assert p99["x"] == [1000, 2000, 2828, 4000]
    assert p99["y"][1] == pytest.approx(max(by_case["005"], by_case["006"]), rel=1e-4)
    names = [line["name"] for line in figure["data"]]
    assert "p99&lt;20ms" in names
    assert {"holds 2,000/s", "does not 2,828/s"} <= set(names)


def test_the_page_has_the_answer_and_no_foreign_markup(run: RunDir, document: dict[str, Any]) -> None:
    page = render_page(document, ResultTables.read(run))
    assert "The limit" in page
    assert 'href="#case-011"' in page
    assert HOSTILE not in page
