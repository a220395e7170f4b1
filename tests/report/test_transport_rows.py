from __future__ import annotations

import csv
import json

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from streamgauge.core.run_dir import RunDir
from streamgauge.report.console import print_results
from streamgauge.report.document import document_text
from streamgauge.report.schema import results_schema
from streamgauge.report.transport_text import (
    held_text,
    latency_text,
    promises_text,
    rate_name,
    remarks,
    transports_markdown,
    unlike,
)
from streamgauge.report.write import write_report

from .old_document import results_document


def test_each_transport_has_a_row_a_rate_with_the_harness_of_that_rate(transports: RunDir) -> None:
    document = results_document(transports)
    Draft202012Validator(results_schema()).validate(json.loads(document_text(document)))
    rows = document["transports"]["rows"]
    assert [(row["transport"], row["rate_per_s"]) for row in rows] == [
        (name, rate) for name in ("log", "socket", "missing") for rate in (1000, 25_000)
    ]
    harness = {case["parameters"]["rate"]: case for case in document["cases"][:2]}
    for row in rows:
        of_harness = harness[row["rate_per_s"]]["latency_ms"]["intended_to_received"]
        assert row["harness_p50_ms"] == of_harness["p50"]
        assert row["harness_p99_ms"] == of_harness["p99"]
    assert [row["lost"] for row in rows[:4]] == [0, 7, 0, 0]
    assert rows[4]["p50_ms"] is None


def test_a_run_of_another_kind_has_none(one_case: RunDir) -> None:
    assert results_document(one_case)["transports"] is None


def test_unlike_promises_are_said(transports: RunDir) -> None:
    part = results_document(transports)["transports"]
    assert unlike(part) == (
        "Not alike: log (durable) and socket (nothing is kept). "
        "Their latencies are the price of different promises."
    )
    alike = {**part, "transports": [about for about in part["transports"] if about["transport"] == "log"]}
    assert unlike(alike) is None
    assert promises_text({}) == "its promises are not known"


def test_the_tables_say_what_went_wrong_and_what_the_system_refused(transports: RunDir) -> None:
    markdown = transports_markdown(results_document(transports)["transports"])
    assert "## Results (log: driver kafka_java, engine python)" in markdown
    assert "a socket · in memory only · ordered · no acknowledgement (fire and forget)" in markdown
    assert "- missing at 1K: zmq is not installed" in markdown
    assert "- socket: so_rcvbuf: the system grants 208 KiB" in markdown
    lines = [line for line in markdown.splitlines() if line.startswith(("| 1K |", "| 25K |"))]
    assert len(lines) == 6
    assert "| 7 |" in lines[1]


def test_what_was_lost_is_said_as_the_table_has_it_and_as_the_case_has_it(transports: RunDir) -> None:
    part = results_document(transports)["transports"]
    reason = "9 acknowledged messages lost, though later ones of their partition came"
    for row in part["rows"]:
        row |= {"messages": 2000, "lost": 7, "reasons": [reason]}
    said = list(remarks(part))
    assert "log at 1K: 7 of 2,000 measured messages never came (0.350%)" in said
    assert f"log at 1K: {reason}; warm-up included" in said
    assert f"socket at 1K: {reason.replace('acknowledged ', '')}; warm-up included" in said


def test_the_console_shows_the_same_rows(transports: RunDir) -> None:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    print_results(results_document(transports), console)
    text = console.export_text()
    assert text.count(" RPS ") + text.count("\nRPS ") >= 3
    assert "50th/99th" in text
    console.file.close()


def test_all_files_are_written(transports: RunDir) -> None:
    write_report(transports)
    report = transports.local("report")
    rows = list(csv.DictReader((report / "csv" / "transports.csv").read_text().splitlines()))
    assert [row["lost"] for row in rows[:2]] == ["0", "7"]
    assert rows[0]["durable"] == "True"
    assert len(list((report / "histograms").glob("*.hlog"))) == 6
    page = (report / "index.html").read_text()
    assert "Latency by percentile, all transports and rates" in page
    assert "Not alike" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0023, "0.0023"), (0.5, "0.500"), (598.2, "598.2")],
)
def test_microseconds_show(value: float | None, text: str) -> None:
    assert latency_text(value) == text


@pytest.mark.parametrize(("rate", "name"), [(1000, "1K"), (2500, "2.5K"), (500, "500"), (100_000, "100K")])
def test_rates_are_written_as_the_seed_does(rate: float, name: str) -> None:
    assert rate_name(rate) == name


def test_who_could_not_hold_the_rate_is_said() -> None:
    row = {"held": False, "sent_per_s": 92_000.0, "rate_per_s": 100_000.0, "harness_held": True}
    assert held_text(row) == "92% of it"
    assert held_text({**row, "harness_held": False}) == "92%: not even the harness"
    assert held_text({**row, "held": True}) == "held"
    assert held_text({"held": None, "status": "failed"}) == "failed"


@pytest.mark.parametrize(
    ("drift", "said"), [(-300.0, "its median fell by 300.0 ms a second"), (0.05, ""), (None, "")]
)
def test_a_transport_that_is_not_at_rest_is_named(transports: RunDir, drift: float | None, said: str) -> None:
    part = results_document(transports)["transports"]
    part["rows"] = [{**part["rows"][0], "drift_ms_per_s": drift, "p50_ms": 684.0, "reasons": []}]
    found = [remark for remark in remarks(part) if remark.startswith("log at")]
    assert (said in found[0]) if said else not found
