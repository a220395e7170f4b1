"""A sweep on a real broker: killed in the middle, resumed, and every figure in its files."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streamgauge.report.schema import results_schema
from tests.cli.streamgauge_command import Streamgauge, agents_and_brokers, command, one_run

pytestmark = [pytest.mark.broker, pytest.mark.spark]

FLAGS = (
    *("--topics", "1,2", "--partitions", "1:4:*4", "--replicas", "1,3", "--message-size", "64"),
    *("--stream-size", "1000", "--acks", "1", "--agents", "2", "--warm-up-messages", "1"),
)
"""Eight cases: four of them want more replicas than there are brokers."""
KILLED_AFTER = 2


@pytest.fixture(scope="module")
def swept(
    kafka: str, run_here: Streamgauge, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, str]:
    """The run folder, and what was said before it was killed and after it was resumed."""
    out = tmp_path_factory.mktemp("runs")
    said = out / "said.txt"
    with said.open("w") as errors:
        process = subprocess.Popen(
            command("sweep", *FLAGS, "--bootstrap", kafka, "--out", out), stderr=errors, stdout=errors
        )
        end = time.monotonic() + 120
        while said.read_text().count("\ncase ") < KILLED_AFTER and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
    run = one_run(out)
    while agents_and_brokers(run) and time.monotonic() < end + 20:
        time.sleep(0.1)
    assert not agents_and_brokers(run), "nothing of it is left running"
    before = said.read_text()
    done = run_here("sweep", "--resume", run)
    assert done.returncode == 1, "some cases cannot be run" + done.stderr
    return run, before, done.stderr


@pytest.fixture(scope="module")
def document(swept: tuple[Path, str, str]) -> dict[str, Any]:
    return json.loads((swept[0] / "results" / "results.json").read_text())


def test_no_case_is_run_twice_and_none_is_left_out(swept: tuple[Path, str, str]) -> None:
    _, before, after = swept
    ended = [line.split()[1] for line in (before + after).splitlines() if line.startswith("case ")]
    assert sorted(ended) == [f"{number:03d}" for number in range(1, 9)]
    assert ended.index("001") < before.count("\ncase ")
    assert "cases left" in after


def test_cases_that_can_be_run_are_whole_and_the_others_say_why_not(document: dict[str, Any]) -> None:
    jsonschema.validate(document, results_schema())
    assert document["status"] == "failed"
    assert len(document["cases"]) == 8
    for case in document["cases"]:
        if case["parameters"]["replicas"] == 3:
            assert case["status"] == "failed"
            assert "replicas: 3 replicas need as many brokers" in case["notes"][0]["text"]
            continue
        streams = len(case["parameters"]["topics"]) * case["parameters"]["partitions"]
        counted = case["accounting"]
        assert case["status"] == "ok", json.dumps(
            {name: case[name] for name in ("notes", "parameters", "integrity")}
        )
        assert counted["sent"] == counted["acked"] == counted["received"] == 15 * streams
        assert len(case["partitions"]) == streams == case["delivery"]["partitions"]
        assert case["warm_up"]["received"] == streams
        assert "is no multiple of the message size 64 B: 15 messages, 960 B" in case["notes"][0]["text"]


def test_it_says_that_it_was_resumed(document: dict[str, Any]) -> None:
    [resumed] = document["environment"]["resumed"]
    assert KILLED_AFTER <= resumed["after_cases"] < 8


def rows_of(run: Path, kind: str, knobs: str) -> list[dict[str, str]]:
    [file] = (run / "report" / "csv").glob(
        f"KafkaPerf-127.0.0.1-{kind}-{knobs}-M000064b-S000001000-A01-Ctrue.csv"
    )
    with file.open() as lines:
        return list(csv.DictReader(lines, skipinitialspace=True))


def test_parts_add_up_to_the_whole(swept: tuple[Path, str, str]) -> None:
    [whole] = rows_of(swept[0], "summary", "T02-P04-R01")
    topics = rows_of(swept[0], "topic", "T02-P04-R01")
    partitions = rows_of(swept[0], "partition", "T02-P04-R01")
    assert (whole["Topic"], whole["Prtn"], whole["Messages"]) == ("2", "4", "120")
    assert [(row["Topic"], row["Prtn"]) for row in topics] == [("0", "4"), ("1", "4")]
    assert [(row["Topic"], row["Prtn"]) for row in partitions] == [(t, p) for t in "01" for p in "0123"]
    for parts in (topics, partitions):
        assert sum(int(row["Messages"]) for row in parts) == 120
        assert sum(float(row["RuntimeS"]) for row in parts) == pytest.approx(
            float(whole["RuntimeS"]), abs=1e-5
        )
        assert max(float(row["MaxMs"]) for row in parts) == float(whole["MaxMs"])
        assert min(float(row["MinMs"]) for row in parts) == float(whole["MinMs"])
        means = [float(row["AvgMs"]) * int(row["Messages"]) for row in parts]
        assert sum(means) / 120 == pytest.approx(float(whole["AvgMs"]), abs=0.001)
    assert max(float(row["RuntimeS"]) for row in partitions) <= float(whole["WallTime"]) + 0.001


def test_a_case_that_failed_has_its_row(swept: tuple[Path, str, str]) -> None:
    [row] = rows_of(swept[0], "summary", "T01-P01-R03")
    assert (row["Messages"], row["Status"], row["Runtime"]) == ("0", "failed", "")


def test_no_topic_is_left_on_the_broker(swept: tuple[Path, str, str], kafka: str) -> None:
    from confluent_kafka.admin import AdminClient

    topics = AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=60).topics
    assert not [name for name in topics if swept[0].name in name]
