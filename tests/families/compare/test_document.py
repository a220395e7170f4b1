from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.core.verdicts import CauseCode
from streamgauge.families.compare.document import (
    AppliedSetting,
    Compared,
    CompareDocument,
    ComparedSetting,
    unequal_settings,
)
from streamgauge.families.compare.section import Comparison
from streamgauge.families.compare.verdict import Decision
from streamgauge.report.document import document_text
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.report.schema import results_schema
from tests.report.sample_comparison import HOSTILE, compared_run


@pytest.fixture
def compared(tmp_path: Path) -> RunDir:
    return compared_run(tmp_path)


def document_of(run: RunDir) -> CompareDocument:
    found = results_document(run)
    assert isinstance(found, CompareDocument)
    return found


def of(document: CompareDocument, **place: Any) -> Compared:
    [row] = [r for r in document.comparisons if all(getattr(r, name) == v for name, v in place.items())]
    return row


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"produce_only": True, "preset": "seed", "bursts": {"length": 3}},
        {"mix_engines": True, "engine": "jvm", "process": "shared"},
        {"repeat": 1},
        {"until_decided": True},
    ],
)
def test_documents_keep_to_the_schema(tmp_path: Path, options: dict[str, Any]) -> None:
    document = json.loads(document_text(results_document(compared_run(tmp_path, **options))))
    jsonschema.Draft202012Validator(results_schema()).validate(document)


def test_a_comparison_has_what_programs_need(compared: RunDir) -> None:
    document = document_of(compared)
    assert (document.name, document.kind) == ("compare", "compare")
    row = of(document, operation="produce", temperature="cold", length=10, messages=5)
    assert row.ratio_percent.median == pytest.approx(50, rel=0.1)
    assert row.interval_percent is not None
    low, high = row.interval_percent
    assert low < 50 < high
    assert row.p is not None
    assert (row.verdict, row.p < 0.01, row.pairs) == ("A faster", True, 12)
    assert row.jni_calls_per_message.model_dump() == {"a": 68, "b": None}
    assert row.crossings_per_message.model_dump() == {"a": 2, "b": None}
    assert row.cpu_us_per_message.model_dump() == {"a": 1, "b": 3}
    assert row.a.mean_us == pytest.approx(500, rel=0.1)
    assert row.accounting.model_dump() == {
        "expected": 180,
        "seen": 180,
        "missing": 0,
        "duplicate": 0,
        "corrupt": None,
        "failed": 0,
    }
    assert row.is_good


def test_rows_come_in_the_order_of_the_plan(compared: RunDir) -> None:
    rows = document_of(compared).comparisons
    assert [(r.operation, r.temperature, r.length) for r in rows[:5]] == [
        ("produce", "cold", 10),
        ("produce", "cold", 100),
        ("produce", "warm", 10),
        ("produce", "warm", 100),
        ("consume", "cold", 10),
    ]


def test_a_failure_and_a_taint_are_where_they_happened(compared: RunDir) -> None:
    document = document_of(compared)
    assert (document.status, document.marked) == ("failed", ["consume cold 100 5"])
    assert (document.integrity, document.validity) == ("lost", "invalid")
    failed = of(document, operation="consume", temperature="cold", length=100)
    assert (failed.accounting.missing, failed.accounting.failed) == (2, 1)
    assert failed.b.is_two_humped
    told = {cause.code.value: cause for cause in failed.integrity.causes}
    assert HOSTILE in (told["trials_failed"].text or "")
    [tainted] = [row for row in document.comparisons if row.is_tainted]
    assert (tainted.operation, tainted.temperature, tainted.length) == ("produce", "warm", 10)
    assert tainted.control.verdict == "A faster"
    assert [cause.code for cause in tainted.validity.causes] == ["control_failed"]
    note = document.comparison.notes[0]
    assert (note.code, note.figures) == ("control_failed", {"tainted_count": 1, "comparison_count": 8})


def test_settings_stand_side_by_side(compared: RunDir) -> None:
    linger, *_ = document_of(compared).comparison.settings
    assert linger.model_dump() == {
        "name": "linger_ms",
        "role": "producer",
        "is_shared": True,
        "a": {"native": "linger.ms", "value": "5", "note": ""},
        "b": {"native": None, "value": None, "note": "it never lingers"},
    }


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"engine": "jvm", "mix_engines": True}, "engines_differ"),
        ({"preset": "seed"}, "seed_preset"),
        ({"process": "shared"}, "shared_process"),
        ({"bursts": {"length": 7}}, "bursts"),
        ({"acks": 0}, "no_acks"),
        ({}, "values_not_checked"),
    ],
)
def test_what_one_has_to_know_is_noted(tmp_path: Path, options: dict[str, Any], code: str) -> None:
    notes = document_of(compared_run(tmp_path, **options)).comparison.notes
    assert code in [note.code for note in notes]


def test_a_run_until_decided_has_typed_decisions(tmp_path: Path) -> None:
    document = document_of(compared_run(tmp_path, until_decided=True, repeat=24, time_limit="10m"))
    assert (document.comparison.until_decided, document.comparison.time_limit_s) == (True, 600)
    assert {(row.decision, row.rounds) for row in document.comparisons} == {(Decision.DECIDED, 24)}
    fixed = document_of(compared_run(tmp_path / "fixed"))
    assert {(row.decision, row.rounds) for row in fixed.comparisons} == {(None, 12)}


def test_a_run_that_broke_off_says_why(compared: RunDir) -> None:
    write_status(
        compared, RunStatus(status="partial", reason="interrupted", cases={"001": CaseStatus("partial")})
    )
    document = document_of(compared)
    assert (document.status, document.reason, document.marked) == ("partial", "interrupted", [])


def test_totals_are_the_sums_of_the_repetitions(compared: RunDir) -> None:
    document = results_document(compared)
    assert isinstance(document, CompareDocument)
    rows = [
        row
        for row in ResultTables.read(compared).tables["repetitions"].to_pylist()
        if row["repetition"] >= 0 and row["side"] in ("a", "b")
    ]
    place = ("operation", "temperature", "length", "messages", "repetition")
    failed = {tuple(row[name] for name in place) for row in rows if row["elapsed_us"] is None}
    assert failed, "a failure is not counted for one library alone"
    whole, *parts = document.totals
    assert (whole.operation, [part.operation for part in parts]) == ("all", ["produce", "consume"])
    for total in document.totals:
        own = [
            row
            for row in rows
            if total.operation in ("all", row["operation"])
            and tuple(row[name] for name in place) not in failed
        ]
        for side, found_s in (("a", total.a_s), ("b", total.b_s)):
            assert found_s == pytest.approx(sum(r["elapsed_us"] for r in own if r["side"] == side) / 1e6)
        assert total.pairs == len(own) / 2
        assert total.ratio_percent == pytest.approx(100 * total.a_s / total.b_s)
    assert whole.a_s == pytest.approx(sum(part.a_s for part in parts))


def test_fair_is_equal_and_where_it_is_not_it_is_said_on_top() -> None:
    fair = Comparison()
    assert fair.shared_settings["send_buffer"] == fair.shared_settings["receive_buffer"] == 1024**2
    native = AppliedSetting(native="send.buffer.bytes", value="1048576", note="")
    five, also_five = (AppliedSetting(native="linger.ms", value=value, note="") for value in ("5", "5.0"))
    missing = AppliedSetting(native=None, value=None, note="left to the operating system")
    settings = [
        ComparedSetting(name="send_buffer", role="producer", is_shared=True, a=native, b=missing),
        ComparedSetting(name="send_buffer", role="consumer", is_shared=True, a=native, b=native),
        ComparedSetting(name="linger_ms", role="producer", is_shared=True, a=five, b=also_five),
        ComparedSetting(name="client.id", role="consumer", is_shared=False, a=native, b=None),
    ]
    [said] = unequal_settings(fair, settings)
    assert said.code is CauseCode.SETTINGS_DIFFER
    assert said.text == "send_buffer (producer): A 1048576, B has none"
