"""Whole fan-outs as a user runs them: a real Kafka, real gateways, real clients."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest

from streamgauge.report.schema import results_schema
from tests.cli.streamgauge_command import Streamgauge, agents_and_brokers, in_process, one_run
from tests.waiting import beside

pytestmark = [pytest.mark.broker, pytest.mark.spark]


def document_of(run: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((run / "results/results.json").read_text())
    jsonschema.validate(content, results_schema())
    return content


def test_every_way_and_form_delivers_everything(tmp_path: Path, run_here: Streamgauge, kafka: str) -> None:
    """And delta and patch are as much smaller than whole updates as they should be."""
    done = run_here(
        *("fanout", "--bootstrap", kafka, "--via", "gateway,kafka-groups,kafka-standalone"),
        *(
            "--scenario",
            "3full,3,3jp,3td",
            "--clients",
            "24",
            "--measured",
            "10",
            "--clients-per-process",
            "15",
        ),
        *("--pause", "40ms", "--duration", "3s", "--warm-up", "500ms", "--out", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    run = one_run(tmp_path)
    fanout = document_of(run)["fanout"]
    series = [point["series"] for point in fanout["points"]]
    assert series == [f"gateway {s}" for s in ("3full", "3", "3jp", "3td")] + [
        "kafka-groups 3full",
        "kafka-standalone 3full",
    ]
    for point in fanout["points"]:
        counts = point["accounting"]
        assert point["holds"], point
        assert (counts["missing"], counts["duplicate"], counts["unexpected"]) == (0, 0, 0), point
        assert counts["messages"] == 875
        assert counts["received"] == counts["expected"] > 0
        assert point["samples"] > 0
        assert point["latency_ms"]["p50"] > 0
        assert point["wire"]["to_clients_bits_per_s"] > 0
    saved = {(row["scenario"], row["against"]): row["percent"] for row in fanout["savings"]}
    assert saved["3", "gateway, whole updates"] < 35
    assert saved["3jp", "gateway, whole updates"] < 45
    assert saved["3", "kafka-standalone 3full"] < 5, "one key of twenty-four, and of it what changed"
    for words in ("Scenarios 3full, 3, 3jp, 3td: latency, ms", "Number of samples:", "ZOOM"):
        assert words in done.stdout
    assert (run / "report/plots/latency-by-clients.svg").read_text().count("<svg") == 1
    assert "Slips of the published tables" in (run / "report/index.html").read_text()
    assert "Number of samples" in (run / "report/report.md").read_text()


def test_measuring_begins_when_clients_broker_and_gateway_are_at_rest(
    tmp_path: Path, run_here: Streamgauge, kafka: str
) -> None:
    """Or it is said that they never were: how soon a loaded machine rests is not for a test to say."""
    load = ("--clients", "20", "--pause", "100ms", "--producers", "10", "--duration", "2s")
    done = run_here(*("fanout", "--bootstrap", kafka, *load, "--warm-up-limit", "8s", "--out", tmp_path))
    assert done.returncode == 0, done.stderr
    run = one_run(tmp_path)
    fanout = document_of(run)["fanout"]
    [point] = fanout["points"]
    course, ahead = point["warm_up_course"], point["warm_up_messages"]
    assert fanout["warm_up_s"] is None
    assert point["holds"], point
    # A few more than asked for where the word came late that all had been sent.
    measured = point["accounting"]["messages"] - ahead
    assert measured >= 200
    assert point["samples"] == measured * 20, "what was sent ahead is no sample"
    assert course["ended"] == "unheard" or ahead == 100 * course["end_s"]
    causes = {cause["code"] for cause in point["validity"]["causes"]}
    assert course["ended"] == "at_rest" or causes & {"never_settled", "not_at_rest"}
    assert len(course["latency_ms"]) == len(course["agents_cores"]) == len(course["systems_cores"]) >= 8
    [kept] = json.loads((run / "warm_ups.json").read_text()).values()
    assert (kept["ended"], kept["messages"]) == (course["ended"], {"0": ahead})
    assert "warm-up" in done.stdout
    assert "Warm-up, gateway" in (run / "report/index.html").read_text()


def test_a_killed_swarm_is_marked_and_the_ladder_goes_on(
    tmp_path: Path, run_here: Streamgauge, kafka: str
) -> None:
    load = ("--clients", "10,20", "--warm-up", "500ms", "--duration", "4s", "--producers", "10")
    with beside(lambda: _kill_swarm(tmp_path)):
        done = run_here("fanout", "--bootstrap", kafka, *load, "--out", tmp_path)
    assert done.returncode == 1, done.stderr
    points = document_of(one_run(tmp_path))["fanout"]["points"]
    assert [point["status"] for point in points] == ["partial", "ok"]
    assert [point["holds"] for point in points] == [None, True]
    assert "swarm-0" in points[0]["notes"][0]["text"]
    assert points[1]["accounting"]["missing"] == 0
    assert "broken" in done.stdout


def _kill_swarm(out: Path) -> None:
    """As soon as it has got something."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for live in out.glob("*/live/swarm-0.json"):
            if json.loads(live.read_text() or "{}").get("messages", 0) > 0:
                for process in agents_and_brokers(live.parent.parent):
                    if _is_swarm(process):
                        process.kill()
                        return
        time.sleep(0.1)
    raise AssertionError("no swarm came up")


def _is_swarm(process: psutil.Process) -> bool:
    from tests.cli.streamgauge_command import log_of

    return log_of(process.pid).endswith("swarm-0.log")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--via", "pigeon"], "--via pigeon: allowed: kafka-groups"),
        (["--clients", "4k,2k"], "from few to many"),
        (["--scenario", "9"], "fanout.scenarios"),
        (["--gateway", "http://127.0.0.1:1"], "give --topic, too"),
        (["--max-frequency", "often"], "fanout.max_frequency"),
        (["--gateway", "ftp://x", "--topic", "t"], "allowed: http://host:port"),
    ],
)
def test_bad_flags(flags: list[str], words: str) -> None:
    done = in_process("fanout", *flags)
    assert done.returncode == 2
    assert words in done.stderr
