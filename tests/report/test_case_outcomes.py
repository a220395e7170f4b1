"""Objectives on cases of messages, through the whole of an analysis."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import write_plan
from streamgauge.report import results
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.csv_files import results_csv
from streamgauge.report.results import results_document
from streamgauge.report.schema import results_schema
from streamgauge.report.write import write_report
from streamgauge.spec.objective import objectives_of
from tests.launch.simulated_run import simulate

from .seen import console_text, markdown, page, words

LOAD: dict[str, Any] = {"messages": 6000, "rate": 1000}
ASKED = ["p99<20ms", "p99.5<1s", "max<1h", "lost=0", "duplicate=0", "rate>=95%", "valid"]


def judged(folder: Path, settings: list[dict[str, Any]], load: dict[str, Any], asked: list[str]) -> RunDir:
    run, plan = simulate(folder, settings, load)
    write_plan(plan.model_copy(update={"objectives": objectives_of(plan.kind, asked)}), run)
    analyze_with(lambda: pytest.fail("Spark was asked for"), run)
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    slow = {"latency": {"law": "constant", "median_ms": 30.0}}
    return judged(tmp_path_factory.mktemp("run"), [{}, slow, {"loss": 0.1}], LOAD, ASKED)


def outcomes(run: RunDir) -> list[dict[str, str]]:
    document = results_document(run)
    assert isinstance(document, CasesDocument)
    return [{each.metric: each.outcome.value for each in case.objectives} for case in document.cases]


def test_every_case_says_what_came_of_each(run: RunDir) -> None:
    good, slow, lossy = outcomes(run)
    assert set(good.values()) == {"met"}
    assert {name for name, said in slow.items() if said != "met"} == {"p99"}
    assert slow["p99"] == lossy["lost"] == "missed"
    assert results_document(run).objectives is Outcome.MISSED


def test_a_percentile_that_no_report_shows_is_worked_out(run: RunDir) -> None:
    found = {each.metric: each.figure for each in results_document(run).parts["case 002"].objectives}
    assert found["p99.5"] == pytest.approx(found["p99"], rel=1e-3)
    assert found["rate"] == pytest.approx(100, rel=0.01)


def test_what_nobody_looked_for_is_not_decidable(tmp_path: Path) -> None:
    load = {**LOAD, "consumers": 0}
    [case] = outcomes(judged(tmp_path, [{}], load, ["lost=0", "duplicate=0", "failed=0", "rate>=1/s"]))
    assert case == {"lost": "not_decidable", "duplicate": "not_decidable", "failed": "met", "rate": "met"}


def test_a_share_of_no_rate_is_not_decidable(tmp_path: Path) -> None:
    [case] = outcomes(judged(tmp_path, [{}], {"messages": 500}, ["rate>=95%"]))
    assert case == {"rate": "not_decidable"}


def test_they_are_in_every_medium(run: RunDir) -> None:
    write_report(run)
    line = "p99<20ms: missed in 1 of 3, as case 002 – it was 30.00 ms"
    assert line in console_text(run, 200)
    assert "missed in 1 of 3, as case 002" in markdown(run)
    assert "missed in 1 of 3, as case 002 – it was 30.00 ms" in words(page(run))
    [_, first, *_] = csv.reader(io.StringIO(run.read_text(f"{run.report_csv}/objectives.csv")))
    assert first[:4] == ["case 001", "p99<20ms", "met", "1.000 ms"]
    rows = list(csv.DictReader(io.StringIO(results_csv(results_document(run)))))
    assert [row["objectives.p99<20ms.outcome"] for row in rows] == ["met", "missed", "met"]
    assert float(rows[1]["objectives.p99<20ms.figure"]) == pytest.approx(30, rel=1e-3)
    jsonschema.Draft202012Validator(results_schema()).validate(run.read_json(run.results_document))


def test_a_document_that_says_nothing_of_objectives_passes_none(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = results_document(run)
    silent.objectives = None

    class Silent:
        def document(self, *_: object) -> object:
            return silent

    monkeypatch.setattr(results, "family_of", lambda _: Silent())
    assert results_document(run).objectives is Outcome.NOT_DECIDABLE


def test_without_objectives_nothing_is_said_of_them(tmp_path: Path) -> None:
    run = judged(tmp_path, [{}], LOAD, [])
    assert results_document(run).objectives is None
    assert "bjective" not in console_text(run)
