from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.plan.plan_file import make_plan
from streamgauge.report.document import document_text
from streamgauge.report.parameters import effective_parameters
from streamgauge.report.results import results_document as typed_document
from streamgauge.report.schema import SCHEMA_FILE, made_schema_text, results_schema
from streamgauge.spec.workload import Workload
from streamgauge.tables.results import LATENCY

from .sample_run import HOSTILE, single_run


def results_document(run: RunDir) -> dict[str, Any]:
    """As who reads the JSON has it."""
    found: dict[str, Any] = json.loads(document_text(typed_document(run)))
    return found


def _validate(document: dict[str, Any]) -> None:
    schema = results_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


def test_documents_keep_to_the_schema(one_case: RunDir, sweep: RunDir, tmp_path: Path) -> None:
    for run in (one_case, sweep, single_run(tmp_path / "no-consumers", consumers=0)):
        _validate(results_document(run))


def test_the_schema_is_strict(one_case: RunDir) -> None:
    document = results_document(one_case)
    document["cases"][0]["accounting"]["lost"] = 0
    with pytest.raises(jsonschema.ValidationError, match="lost"):
        _validate(document)


def test_figures_of_a_case(one_case: RunDir) -> None:
    document = results_document(one_case)
    assert (document["run"], document["name"]) == ("20260102-030405-end-to-end-ab12", "end-to-end")
    assert (document["status"], document["reason"]) == ("ok", None)
    assert document["environment"]["kernel"] == "Linux 6.8.0"
    [case] = document["cases"]
    assert (case["case"], case["target"], case["driver"]) == ("001", "kafka", "kafka_confluent")
    assert case["accounting"]["sent"] == case["accounting"]["received"] == 26_000
    assert case["warm_up"]["sent"] == 4_000
    assert case["latency_ms"]["intended_to_received"]["count"] == 26_000
    assert case["schedule_lag_ms"]["max"] > 200
    assert case["range_s"]["sent"] == 26
    assert case["throughput"]["sent_messages_per_s"] == 1000
    assert case["cpu_us_per_message"] == {"producer": 24.1, "consumer": 11.9, "broker": 31.5}
    assert case["bottleneck"]["limit"] == "none"
    assert [clock["agent"] for clock in case["clocks"]] == [
        "producer-0",
        "producer-1",
        "consumer-0",
        "consumer-1",
    ]
    assert [(row["topic"], row["partition"]) for row in case["partitions"]] == [("orders", 0), ("orders", 1)]
    assert [row["second"] for row in case["seconds"]] == list(range(30))
    assert case["seconds"][0]["warm_up"]["sent"] == 1000
    assert case["seconds"][0]["accounting"]["sent"] == 0
    assert set(case["seconds"][9]["latency_ms"]["sent_to_acked"]) == {
        *("count", "mean", "min", "p50", "p99", "max"),
    }


def test_parameters_are_those_in_force(sweep: RunDir) -> None:
    case = results_document(sweep)["cases"][1]
    parameters = case["parameters"]
    assert parameters["swept"] == {"message.size": 700}
    assert parameters["message_size"] == 700
    assert parameters["rate"] == 1000
    assert (parameters["acks"], parameters["compression"], parameters["subscription"]) == (
        "all",
        "none",
        "assigned",
    )


def test_steps_and_drawn_sizes_keep_to_the_schema(one_case: RunDir) -> None:
    load = {
        "rate": [{"rate": "1k/s", "for": "2s"}, {"rate": "2k/s", "for": "1s"}],
        "message": {"size": {"distribution": "uniform", "min": 100, "max": "1KiB"}},
    }
    targets = [{"name": "t", "driver": "simulated"}]
    case = make_plan(Workload.model_validate({"targets": targets, "load": load}), "r").cases[0]
    document = results_document(one_case)
    document["cases"][0]["parameters"] = effective_parameters(case)
    _validate(document)
    assert document["cases"][0]["parameters"]["messages"] == 4000


def test_a_failed_case_fails_a_run_that_ended_well(sweep: RunDir) -> None:
    write_status(sweep, RunStatus(status="ok", cases={"001": CaseStatus("ok")}))
    document = results_document(sweep)
    assert (document["status"], document["reason"], document["marked"]) == ("failed", None, ["002"])


def test_every_kind_of_case_has_its_status_and_reasons(sweep: RunDir) -> None:
    document = results_document(sweep)
    assert (document["status"], document["reason"]) == ("partial", "case 003 broke off")
    by_id = {case["case"]: case for case in document["cases"]}
    assert [case["status"] for case in by_id.values()] == ["ok", "failed", "partial", "ok", "not run"]
    lost = by_id["002"]["integrity"]
    assert lost["verdict"] == document["integrity"] == "lost"
    assert {cause["code"]: cause["figures"] for cause in lost["causes"]} == {
        "lost_write": {"message_count": 7},
        "unseen": {"message_count": 2},
        "duplicate": {"message_count": 3},
    }
    [note] = by_id["003"]["notes"]
    assert (note["code"], note["text"]) == ("recorded", f"consumer-1 died: {HOSTILE}")
    assert by_id["003"]["validity"]["verdict"] == document["validity"] == "invalid"
    assert by_id["005"]["accounting"]["sent"] == 0
    assert by_id["005"]["bottleneck"] == {"limit": None, "cause": None}
    assert by_id["005"]["integrity"] == {"verdict": "not_measured", "causes": []}


def test_what_the_run_knows_outweighs_a_good_verdict(one_case: RunDir) -> None:
    broken = RunStatus(status="partial", cases={"001": CaseStatus("partial", "consumer-0 died")})
    write_status(one_case, broken)
    [case] = results_document(one_case)["cases"]
    assert (case["status"], [note["text"] for note in case["notes"]]) == ("partial", ["consumer-0 died"])
    assert case["validity"]["verdict"] == "invalid"
    assert [cause["code"] for cause in case["validity"]["causes"]] == ["incomplete"]


def test_a_leg_without_messages_is_zero_and_nulls(tmp_path: Path) -> None:
    [case] = results_document(single_run(tmp_path / "run", consumers=0))["cases"]
    leg = case["latency_ms"]["intended_to_received"]
    assert leg.pop("count") == 0
    assert leg.pop("negative_count") == 0
    assert set(leg.values()) == {None}
    assert case["range_s"]["received"] is None
    assert case["cpu_us_per_message"]["consumer"] is None


def test_json_is_strict(one_case: RunDir) -> None:
    path = one_case.local(one_case.result("latency")) / "part-00000.parquet"
    rows = pq.read_table(path).to_pylist()
    rows[0]["sd"], rows[0]["mean"] = float("nan"), float("inf")
    pq.write_table(pa.Table.from_pylist(rows, schema=LATENCY.arrow_schema()), path)
    text = document_text(typed_document(one_case))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    document = json.loads(text, parse_constant=refuse)
    assert document["cases"][0]["latency_ms"]["intended_to_received"]["sd"] is None


def test_a_run_without_environment_has_an_empty_one(one_case: RunDir) -> None:
    one_case.local(one_case.environment).unlink()
    assert results_document(one_case)["environment"] == {}


def test_a_broken_status_is_named(one_case: RunDir) -> None:
    one_case.write_text(one_case.status, "{")
    with pytest.raises(CorruptRun, match=r"status\.json"):
        results_document(one_case)


def test_the_schema_is_that_of_the_models() -> None:
    """`python tools/results_schema.py` writes it anew."""
    place = resources.files("streamgauge.report").joinpath(SCHEMA_FILE)
    assert place.read_text("utf-8") == made_schema_text()


def test_every_field_is_described_for_people() -> None:
    """docs/results.md speaks of every field that the schema has."""
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    schema = results_schema()
    names: set[str] = set()
    for definition in schema["$defs"].values():
        names |= set(definition.get("properties", ()))
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []
