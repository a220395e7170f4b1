"""A search for the limit: its document, and what is seen of it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import Validity
from streamgauge.families.limit.answer import limit_answer, limit_answer_text
from streamgauge.families.limit.document import LimitDocument
from streamgauge.families.limit.search_file import SearchRecord, read_search, write_search
from streamgauge.families.limit.show import curve_figure, steps_table
from streamgauge.report.csv_renderer import shown_csv
from streamgauge.report.document import document_text
from streamgauge.report.medium import Tone
from streamgauge.report.results import results_document
from streamgauge.report.schema import results_schema
from tests.report.sample_run import HOSTILE, limit_run
from tests.report.seen import console_text, page, shown


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return limit_run(tmp_path_factory.mktemp("limit") / "run")


@pytest.fixture(scope="module")
def document(run: RunDir) -> LimitDocument:
    found = results_document(run)
    assert isinstance(found, LimitDocument)
    return found


def test_the_document_keeps_to_the_schema_and_has_the_answer(document: LimitDocument) -> None:
    jsonschema.validate(json.loads(document_text(document)), results_schema())
    limit = document.limit
    assert (limit.held_per_s, limit.broken_per_s, limit.ending) == (2000, 2828, "found")
    assert limit.took_s == 82.5
    assert [step.rate_per_s for step in limit.steps] == [1000, 2000, 2828, 4000]
    assert [step.holds for step in limit.steps] == [True, True, False, False]


def test_cases_that_break_beyond_the_limit_do_not_fail_the_run(document: LimitDocument) -> None:
    assert any(case.status == "failed" for case in document.cases)
    assert (document.status, document.integrity, document.validity) == ("ok", "ok", "valid")


def test_the_bottleneck_is_that_of_the_lowest_rate_where_something_was_busy(document: LimitDocument) -> None:
    assert (document.limit.bottleneck.limit, document.limit.bottleneck.case) == ("broker", "007")


def test_the_console_says_it_in_80_columns(run: RunDir) -> None:
    said = console_text(run)
    assert "2,000/s hold p99<20ms and lost=0; 2,828/s do not." in said
    assert "Bottleneck: broker" in said
    assert "009✗ 010✓ 011✗" in said
    assert "integrity     all accounted for" in said
    assert "validity      valid" in said
    assert max(len(line.rstrip()) for line in said.splitlines()) <= 80


def test_a_search_that_was_cut_off_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    run = limit_run(tmp_path / "run")
    write_search(run, SearchRecord())
    text = console_text(run)
    assert "It is not known yet at which rate" in text
    assert "the search has not come to its end" in text
    assert "It is not known yet" in page(run)


def test_what_is_not_decidable_is_said_and_is_not_missed(tmp_path: Path) -> None:
    run = limit_run(tmp_path / "run")
    record = read_search(run)
    trials = [
        replace(trial, missed=[], doubts=["not at rest"]) if trial.rate_per_s == 2828 else trial
        for trial in record.trials
    ]
    write_search(run, SearchRecord(trials, "not decidable"))
    text = console_text(run)
    assert "2,000/s hold p99<20ms and lost=0; 2,828/s are not decidable; 4,000/s do not." in " ".join(
        text.split()
    )
    assert "009? 010? 011?" in text
    assert "trials did not come to rest" in " ".join(text.split())
    document = results_document(run)
    assert isinstance(document, LimitDocument)
    jsonschema.validate(json.loads(document_text(document)), results_schema())
    assert [step.outcome for step in document.limit.steps] == ["met", "met", "not_decidable", "missed"]
    assert [step.holds for step in document.limit.steps] == [True, True, None, False]
    assert limit_answer_text(limit_answer(document)).startswith(
        "2,000/s hold p99<20ms and lost=0, 2,828/s are not decidable, 4,000/s do not"
    )


def test_when_nothing_is_decidable_neither_are_the_objectives(tmp_path: Path) -> None:
    run = limit_run(tmp_path / "run")
    trials = [replace(trial, missed=[], doubts=["not at rest"]) for trial in read_search(run).trials]
    write_search(run, SearchRecord(trials, "not decidable"))
    document = results_document(run)
    assert isinstance(document, LimitDocument)
    assert document.objectives in (None, "not_decidable")
    assert document.limit.undecided_per_s == 1000
    assert "No rate that was tried is known to hold" in console_text(run)


def test_the_csv_has_a_row_a_trial_with_both_verdicts(run: RunDir) -> None:
    rows = list(csv.DictReader(io.StringIO(shown_csv(shown(run))["limit.csv"])))
    assert len(rows) == 11
    tried = [row["holds"] for row in rows if row["rate_per_s"] == "2000.0"]
    assert tried == ["false", "false", "true", "true"]
    assert {(row["integrity"], row["validity"]) for row in rows} == {("ok", "valid")}


def test_the_curve_goes_through_the_trials_that_decided(document: LimitDocument) -> None:
    figure = curve_figure(document)
    assert figure is not None
    p99 = next(line for line in figure.series if line.name == "p99")
    by_case = {case.case: case.latency_ms.intended_to_received.p99 or 0.0 for case in document.cases}
    assert p99.x == [1000, 2000, 2828, 4000]
    assert p99.y[1] == pytest.approx(max(by_case["005"], by_case["006"]), rel=1e-4)
    names = [line.name for line in figure.series]
    assert "p99<20ms" in names
    assert {"holds 2,000/s", "does not 2,828/s"} <= set(names)


def test_the_page_has_the_answer_and_no_foreign_markup(run: RunDir) -> None:
    made = page(run)
    assert "The limit" in made
    assert 'id="case-011"' in made
    assert HOSTILE not in made


def test_a_rate_that_holds_by_figures_not_to_be_quoted_is_not_green(document: LimitDocument) -> None:
    document = document.model_copy(deep=True)

    def tones() -> dict[object, tuple[Tone, Tone]]:
        table = steps_table(document)
        place = [column.name for column in table.columns].index("validity")
        return {row.cells[0].value: (row.cells[1].tone, row.cells[place].tone) for row in table.rows}

    assert tones()[1000.0] == (Tone.GOOD, Tone.GOOD)
    for case in document.cases:
        case.validity.verdict = Validity.INVALID
    assert tones()[1000.0] == (Tone.WARN, Tone.WARN)
    assert tones()[4000.0] == (Tone.BAD, Tone.WARN)
