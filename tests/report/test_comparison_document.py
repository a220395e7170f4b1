from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.report.document import document_text
from streamgauge.report.results import results_document as typed_document
from streamgauge.report.schema import results_schema

from .old_document import results_document
from .sample_comparison import HOSTILE, compared_run


@pytest.fixture
def compared(tmp_path: Path) -> RunDir:
    return compared_run(tmp_path)


def of(document: dict[str, Any], **place: Any) -> dict[str, Any]:
    [row] = [r for r in document["comparisons"] if all(r[name] == value for name, value in place.items())]
    return row


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"produce_only": True, "preset": "seed", "bursts": {"length": 3}},
        {"mix_engines": True, "engine": "jvm", "process": "shared"},
        {"repeat": 1},
    ],
)
def test_documents_keep_to_the_schema(tmp_path: Path, options: dict[str, Any]) -> None:
    document = json.loads(document_text(typed_document(compared_run(tmp_path, **options))))
    jsonschema.Draft202012Validator(results_schema()).validate(document)


def test_a_comparison_has_what_programs_need(compared: RunDir) -> None:
    document = results_document(compared)
    assert (document["name"], document["cases"]) == ("compare", [])
    row = of(document, operation="produce", temperature="cold", length=10, messages=5)
    assert set(row["ratio_percent"]) == {"max", "min", "mean", "sd", "cv", "median"}
    assert row["ratio_percent"]["median"] == pytest.approx(50, rel=0.1)
    low, high = row["interval_percent"]
    assert low < 50 < high
    assert (row["verdict"], row["p"] < 0.01, row["pairs"]) == ("A faster", True, 12)
    assert row["jni_calls_per_message"] == {"a": 68, "b": None}
    assert row["crossings_per_message"] == {"a": 2, "b": None}
    assert row["cpu_us_per_message"] == {"a": 1, "b": 3}
    assert row["a"]["mean_us"] == pytest.approx(500, rel=0.1)
    assert row["accounting"] == {
        "expected": 180,
        "seen": 180,
        "missing": 0,
        "duplicate": 0,
        "corrupt": None,
        "failed": 0,
    }


def test_rows_come_in_the_order_of_the_plan(compared: RunDir) -> None:
    rows = results_document(compared)["comparisons"]
    assert [(r["operation"], r["temperature"], r["length"]) for r in rows[:5]] == [
        ("produce", "cold", 10),
        ("produce", "cold", 100),
        ("produce", "warm", 10),
        ("produce", "warm", 100),
        ("consume", "cold", 10),
    ]


def test_a_failure_and_a_taint_are_where_they_happened(compared: RunDir) -> None:
    document = results_document(compared)
    assert document["status"] == "failed"
    assert document["reason"] == "1 of 8 comparisons failed: consume cold 5 × 100 B"
    failed = of(document, operation="consume", temperature="cold", length=100)
    assert (failed["accounting"]["missing"], failed["accounting"]["failed"]) == (2, 1)
    assert failed["b"]["is_two_humped"]
    tainted = [row for row in document["comparisons"] if row["is_tainted"]]
    assert [(row["operation"], row["temperature"], row["length"]) for row in tainted] == [
        ("produce", "warm", 10)
    ]
    assert tainted[0]["control"]["verdict"] == "A faster"
    assert document["comparison"]["notes"][0].startswith("The A/A control failed in 1 of 8 comparisons")


def test_settings_stand_side_by_side(compared: RunDir) -> None:
    linger, *_ = results_document(compared)["comparison"]["settings"]
    assert linger == {
        "name": "linger_ms",
        "role": "producer",
        "is_shared": True,
        "a": {"native": "linger.ms", "value": "5", "note": ""},
        "b": {"native": None, "value": None, "note": "it never lingers"},
    }


def test_engines_that_differ_are_said_loudly(tmp_path: Path) -> None:
    conditions = results_document(compared_run(tmp_path, engine="jvm", mix_engines=True))["comparison"]
    assert (conditions["a"]["engine"], conditions["b"]["engine"]) == ("jvm", "python")
    assert any(note.startswith("ENGINES DIFFER") for note in conditions["notes"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"preset": "seed"}, "known faults"),
        ({"process": "shared"}, "share one process"),
        ({"bursts": {"length": 7}}, "Bursts of 7 messages with pauses of 0.1 s"),
        ({"acks": 0}, "acks=0"),
        ({}, "Values were not checked"),
    ],
)
def test_what_one_has_to_know_is_noted(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    notes = results_document(compared_run(tmp_path, **options))["comparison"]["notes"]
    assert any(words in note for note in notes)


def test_a_run_that_broke_off_says_why(compared: RunDir) -> None:
    write_status(
        compared, RunStatus(status="partial", reason="interrupted", cases={"001": CaseStatus("partial")})
    )
    document = results_document(compared)
    assert (document["status"], document["reason"]) == ("partial", "interrupted")


def test_hostile_text_is_kept_as_text(compared: RunDir) -> None:
    document = results_document(compared)
    assert HOSTILE in of(document, operation="consume", temperature="cold", length=100)["reasons"][0]
