from __future__ import annotations

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streamgauge.report.schema import results_schema
from tests.cli.streamgauge_command import Streamgauge, in_process, one_run, streamgauge

pytestmark = [pytest.mark.broker, pytest.mark.spark]

MESSAGES = 3000


@pytest.fixture(scope="module")
def e2e_run(kafka: str, run_here: Streamgauge, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Two producers, two consumers, on a real broker; the run folder and what was printed."""
    out = tmp_path_factory.mktemp("runs")
    host, port = kafka.split(":")
    done = run_here(
        "e2e",
        *("--kafka-bootstrap-host", host, "--kafka-bootstrap-port", port),
        *("--test-producer-processes", "2", "--test-consumer-processes", "2"),
        *("--test-produce-messages", str(MESSAGES), "--test-produce-rate", "1000"),
        *("--message-size", "200", "--producer-acks", "1", "--warm-up-messages", "300", "--out", out),
    )
    assert done.returncode == 0, done.stderr
    return one_run(out), done.stdout


@pytest.fixture(scope="module")
def document(e2e_run: tuple[Path, str]) -> dict[str, Any]:
    done = in_process("results", e2e_run[0], "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_message_is_accounted_for(document: dict[str, Any]) -> None:
    [case] = document["cases"]
    counted = case["accounting"]
    assert counted["sent"] == counted["acked"] == counted["received"] == MESSAGES
    faults = ("failed", "lost_write", "unseen", "duplicate", "out_of_order", "corrupt", "unexpected")
    assert {name: counted[name] for name in faults} == dict.fromkeys(faults, 0)
    assert case["warm_up"]["sent"] == case["warm_up"]["received"] == 300
    assert case["status"] == document["status"] == "ok"


def test_the_document_keeps_to_its_schema(document: dict[str, Any]) -> None:
    jsonschema.validate(document, results_schema())


def test_the_times_of_a_message_are_in_order(document: dict[str, Any]) -> None:
    latency = document["cases"][0]["latency_ms"]
    for leg in ("intended_to_received", "sent_to_received", "sent_to_acked"):
        figures = latency[leg]
        assert figures["count"] == MESSAGES
        assert 0 < figures["min"] <= figures["p50"] <= figures["p99"] <= figures["p99_9"] <= figures["max"]
    # The broker's own time is in whole milliseconds, so these two may be off by one.
    assert latency["sent_to_broker"]["min"] > -1.1
    assert latency["broker_to_received"]["min"] > -0.1
    assert latency["intended_to_received"]["mean"] > latency["sent_to_received"]["mean"]


def test_the_rate_is_held_on_average(document: dict[str, Any]) -> None:
    case = document["cases"][0]
    assert case["throughput"]["sent_messages_per_s"] == pytest.approx(1000, rel=0.1)
    assert case["range_s"]["sent"] == pytest.approx(MESSAGES / 1000, rel=0.1)
    assert case["schedule_lag_ms"]["min"] >= 0


def test_samples_and_environment_are_there(document: dict[str, Any], e2e_run: tuple[Path, str]) -> None:
    case = document["cases"][0]
    assert case["cpu_us_per_message"]["producer"] > 0
    assert case["cpu_us_per_message"]["consumer"] > 0
    assert case["bottleneck"]["cause"]["figures"]
    environment = document["environment"]
    assert environment["cores"] >= 1
    assert environment["versions"]["confluent-kafka"]
    assert environment["clients"]["kafka"]["producer"]["acks"] == "1"


def test_the_console_shows_the_seeds_figures(e2e_run: tuple[Path, str]) -> None:
    printed = e2e_run[1]
    for words in ("received", "p99.9", "lost-write 0", "bottleneck", "schedule lag"):
        assert words in printed


def test_each_stage_can_be_run_again_from_the_files_before(e2e_run: tuple[Path, str]) -> None:
    run, _ = e2e_run
    before = in_process("results", run, "--csv").stdout
    assert in_process("analyze", run).returncode == 0
    page = run / "report" / "index.html"
    page.unlink()
    done = in_process("report", run)
    assert done.returncode == 0
    assert done.stdout.strip() == str(page)
    assert page.read_text().rstrip().endswith("</html>")
    assert page.stat().st_size > 50_000, "with its plots, and what draws them"
    assert in_process("results", run, "--csv").stdout == before
    [row] = csv.DictReader(io.StringIO(before))
    assert row["case"] == "001"


def test_runs_lists_it(e2e_run: tuple[Path, str]) -> None:
    run, _ = e2e_run
    done = in_process("runs", "--out", run.parent)
    assert run.name in done.stdout
    assert "ok" in done.stdout


def test_a_damaged_event_file_is_named_and_nothing_is_lost(e2e_run: tuple[Path, str], tmp_path: Path) -> None:
    import shutil

    run = tmp_path / "damaged"
    shutil.copytree(e2e_run[0], run)
    victim = sorted((run / "events" / "sends").rglob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:-20])
    done = in_process("analyze", run)
    assert done.returncode == 2
    assert victim.name in done.stderr
    assert "Traceback" not in done.stderr
    assert in_process("results", run, "--json").returncode == 0, "the old results are still there"


def test_two_runs_at_once_on_one_cluster_do_not_touch_each_other(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    def arguments(number: int) -> list[str | Path]:
        # The first ends, and deletes its topic, while the second still sends.
        messages = str(100 + 300 * number)
        return [
            *("e2e", "--bootstrap", kafka, "--test-produce-messages", messages, "--test-produce-rate", "100"),
            *("--warm-up-messages", "10", "--out", tmp_path / str(number), "--live", "off"),
        ]

    with ThreadPoolExecutor(1) as beside:
        first = beside.submit(streamgauge, *arguments(0))
        second = run_here(*arguments(1))
    for number, done in enumerate((first.result(), second)):
        assert done.returncode == 0, done.stderr
        [case] = json.loads(in_process("results", one_run(tmp_path / str(number)), "--json").stdout)["cases"]
        assert case["status"] == "ok"
        assert case["accounting"]["received"] == 100 + 300 * number
        assert case["accounting"]["unexpected"] == 0


def test_by_default_messages_count_once_the_load_is_at_rest_or_the_limit_is_said(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    done = run_here(
        *("e2e", "--bootstrap", kafka, "--test-produce-messages", "2000", "--test-produce-rate", "1000"),
        *("--warm-up-limit", "12s", "--out", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    [case] = json.loads(in_process("results", one_run(tmp_path), "--json").stdout)["cases"]
    assert case["accounting"]["sent"] == case["accounting"]["received"] == 2000
    warmed_up = case["warm_up"]["sent"]
    # The rule needs four seconds, of which two may be those that are measured.
    assert 2000 <= warmed_up <= 14_000
    assert case["warm_up"]["received"] == warmed_up
    assert case["parameters"]["warm_up_s"] == pytest.approx(warmed_up / 1000, abs=0.3)
    assert case["parameters"]["warm_up_ended"] in ("at_rest", "limit")
    if case["parameters"]["warm_up_ended"] == "limit":
        assert case["validity"]["verdict"] == "invalid"
