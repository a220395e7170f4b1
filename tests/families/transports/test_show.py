"""Transports: their document, and what is seen of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from streamgauge.core.run_dir import RunDir
from streamgauge.families.transports.document import TransportRow, TransportsDocument
from streamgauge.families.transports.show import held_text, promises_text, remarks, unlike
from streamgauge.report.cases_show import rate_name
from streamgauge.report.document import State, document_text
from streamgauge.report.quantities import fine_text
from streamgauge.report.results import results_document
from streamgauge.report.schema import results_schema
from streamgauge.report.write import write_report
from tests.report.sample_run import transports_run
from tests.report.seen import console_text, markdown


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return transports_run(tmp_path_factory.mktemp("transports") / "run")


@pytest.fixture(scope="module")
def document(transports: RunDir) -> TransportsDocument:
    found = results_document(transports)
    assert isinstance(found, TransportsDocument)
    return found


def test_each_transport_has_a_row_a_rate_with_the_harness_of_that_rate(document: TransportsDocument) -> None:
    Draft202012Validator(results_schema()).validate(json.loads(document_text(document)))
    rows = document.transports.rows
    assert [(row.transport, row.rate_per_s) for row in rows] == [
        (name, rate) for name in ("log", "socket", "missing") for rate in (1000, 25_000)
    ]
    harness = {case.parameters.rate: case for case in document.cases[:2]}
    for row in rows:
        of_harness = harness[row.rate_per_s].latency_ms.intended_to_received
        assert (row.harness_p50_ms, row.harness_p99_ms) == (of_harness.p50, of_harness.p99)
    assert [row.lost for row in rows[:4]] == [0, 7, 0, 0]
    assert [row.integrity for row in rows] == ["ok", "lost", "ok", "ok", "not_measured", "not_measured"]
    assert rows[4].p50_ms is None


def test_unlike_promises_are_said(document: TransportsDocument) -> None:
    found = document.transports
    assert unlike(found) == (
        "Not alike: log (durable) and socket (nothing is kept). "
        "Their latencies are the price of different promises."
    )
    alike = [about for about in found.transports if about.transport == "log"]
    assert unlike(found.model_copy(update={"transports": alike})) is None
    assert promises_text(None) == "its promises are not known"


def test_the_tables_say_what_went_wrong_and_what_the_system_refused(transports: RunDir) -> None:
    text = markdown(transports)
    assert "**Results (log: driver kafka\\_java, engine python)**" in text
    assert "a socket · in memory only · ordered · no acks (fire and forget)" in text
    assert "- **missing at 1K: zmq is not installed**" in text
    assert "- **socket: so\\_rcvbuf: the system grants 208 KiB" in text
    lines = [line for line in text.splitlines() if line.startswith(("| 1K |", "| 25K |"))]
    assert len(lines) == 6
    assert "| 7 |" in lines[1]
    assert "messages lost" in lines[1]


def test_what_was_lost_is_said_as_the_table_has_it_and_as_the_verdict_has_it(
    document: TransportsDocument,
) -> None:
    said = list(remarks(document))
    assert "log at 25K: 7 of 26,000 measured messages never arrived (0.027%)" in said
    assert "log at 25K: 7 acked messages lost, although later ones in their partition arrived" in said


def test_the_console_shows_the_same_rows(transports: RunDir) -> None:
    text = console_text(transports, width=120)
    assert text.count("RPS") >= 3
    assert "harness 50th" in text
    assert "integrity     messages lost" in text


def test_all_files_are_written(tmp_path: Path) -> None:
    run = transports_run(tmp_path / "run")
    write_report(run)
    report = run.local("report")
    rows = list(csv.DictReader((report / "csv" / "transports.csv").read_text().splitlines()))
    assert [row["lost"] for row in rows[:2]] == ["0", "7"]
    assert [row["integrity"] for row in rows[:2]] == ["ok", "lost"]
    assert rows[0]["durable"] == "true"
    assert len(list((report / "histograms").glob("*.hlog"))) == 6
    assert len(list((report / "histograms").glob("*.hgrm"))) == 6
    page = (report / "index.html").read_text()
    assert "Latency by percentile, all transports and rates" in page
    assert "Not alike" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0023, "0.0023"), (0.5, "0.500"), (598.2, "598.2")],
)
def test_microseconds_show(value: float | None, text: str) -> None:
    assert fine_text(value) == text


@pytest.mark.parametrize(("rate", "name"), [(1000, "1K"), (2500, "2.5K"), (500, "500"), (100_000, "100K")])
def test_rates_are_written_short(rate: float, name: str) -> None:
    assert rate_name(rate) == name


def test_who_could_not_hold_the_rate_is_said(document: TransportsDocument) -> None:
    def row(**change: object) -> TransportRow:
        return document.transports.rows[0].model_copy(update=change)

    late = {"held": False, "sent_per_s": 92_000.0, "rate_per_s": 100_000.0, "harness_held": True}
    assert held_text(row(**late)) == "92% of it"
    assert held_text(row(**late | {"harness_held": False})) == "92%: not even the harness"
    assert held_text(row(**late | {"held": True})) == "held"
    assert held_text(row(held=None, status=State.FAILED)) == "failed"
