"""The live view from agents to page: a real broker, a real Structured Streaming query, as a user runs it."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from tests.cli.streamgauge_command import command, one_run

pytestmark = [pytest.mark.broker, pytest.mark.spark]

MESSAGES, WARM_UP = 6000, 500


@pytest.fixture(scope="module")
def live_run(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, list[dict[str, Any]]]:
    """The run folder, what was printed, and all that the page was told while the run went on."""
    out = tmp_path_factory.mktemp("runs")
    running = subprocess.Popen(
        command(
            *("e2e", "--warm-up-messages", "none", "--bootstrap", kafka, "--live", "on", "--out", out),
            *("--test-producer-processes", "1", "--test-consumer-processes", "2"),
            *("--test-produce-messages", str(MESSAGES), "--test-produce-rate", "1000"),
            *("--warm-up-messages", str(WARM_UP)),
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    printed, told = "", []
    try:
        while "live view: " not in printed:
            line = running.stderr.readline()
            assert line, printed
            printed += line
        if found := re.search(r"http://127\.0\.0\.1:\d+/", printed):
            told = _follow(found[0])
        rest = running.communicate(timeout=200)[1]
    finally:
        running.kill()
        running.wait(30)
    assert running.returncode == 0, printed + rest
    return one_run(out), printed + rest, told


def _follow(address: str) -> list[dict[str, Any]]:
    """Until the page is gone."""
    told, deadline = [], time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address + "live.json", timeout=60) as answer:
                told.append(json.load(answer))
        except (OSError, urllib.error.URLError):
            return told
        time.sleep(0.2)
    raise AssertionError("the page was still served")


def test_all_messages_of_all_agents_come_through_spark(
    live_run: tuple[Path, str, list[dict[str, Any]]],
) -> None:
    _, printed, told = live_run
    assert told, printed
    assert told[-1]["ended"]
    [case] = told[-1]["cases"]
    whole = MESSAGES + WARM_UP
    assert (case["sent"], case["received"], case["planned"], case["missed"]) == (whole, whole, whole, 0)
    assert sum(second[1] for second in told[-1]["seconds"]) == whole
    assert sum(second[2] for second in told[-1]["seconds"]) == whole
    assert any(0 < sum(s[1] for s in before["seconds"]) < whole for before in told), "nothing came meanwhile"


def test_its_latencies_are_those_of_the_results(live_run: tuple[Path, str, list[dict[str, Any]]]) -> None:
    run, _, told = live_run
    [case] = told[-1]["cases"]
    p50, p99, p999, greatest = case["latency_ms"]
    assert 0 < p50 <= p99 <= p999 <= greatest
    figures = json.loads((run / "results" / "results.json").read_text())["cases"][0]["latency_ms"]
    # The view has the warm-up too, so its greatest latency is at least that of what was measured.
    assert greatest >= figures["intended_to_received"]["max"] * 0.995


def test_its_cost_is_measured_and_kept(live_run: tuple[Path, str, list[dict[str, Any]]]) -> None:
    run, printed, _ = live_run
    cost = json.loads((run / "environment.json").read_text())["live_view"]["case 001"]
    assert 0 < cost["agents_cpu_s"] < cost["took_s"]
    assert cost["spark_cpu_s"] > 0
    assert "live view of case 001 took: agents 0." in printed


def test_the_topic_is_gone_with_the_run(kafka: str, live_run: tuple[Path, str, list[dict[str, Any]]]) -> None:
    admin = AdminClient({"bootstrap.servers": kafka})
    assert not [name for name in admin.list_topics(timeout=60).topics if name.startswith("_streamgauge")]
