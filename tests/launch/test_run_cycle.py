"""Runs that go wrong, and runs with every kind of load, on a real broker through the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.streamgauge_command import (
    Streamgauge,
    agents_and_brokers,
    command,
    in_process,
    log_of,
    one_run,
)
from tests.waiting import beside, wait_for

pytestmark = [pytest.mark.broker, pytest.mark.spark]


SOON_S = 120.0
"""Messages of a long run alone would take more than three minutes."""


BEGIN_DEADLINE_S = 240.0
"""The first test of a process has its broker's and its Spark's start in it, beside those of all others."""


def long_run(out: Path, *arguments: str) -> list[str | Path]:
    return [
        "e2e",
        *("--test-produce-messages", "200000", "--test-produce-rate", "1000", "--out", out),
        *("--test-producer-processes", "1", "--test-consumer-processes", "1"),
        *("--warm-up-messages", "0", *arguments),
    ]


def start_long_run(out: Path, *arguments: str) -> subprocess.Popen[str]:
    """By itself in a process group."""
    return subprocess.Popen(
        command(*long_run(out, *arguments)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait(30)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def agent(out: Path, name: str) -> int | None:
    """Process id of an agent that has begun to count."""
    for run in out.iterdir():
        if (run / "live" / f"{name}.json").exists():
            for process in agents_and_brokers(run):
                if _is(process, name, run):
                    return process.pid
    return None


def counted(out: Path, name: str) -> int:
    """Messages of an agent so far."""
    found = [json.loads(live.read_text() or "{}") for live in out.glob(f"*/live/{name}.json")]
    return sum(int(content.get("messages", 0)) for content in found)


def _is(process: Any, name: str, run: Path) -> bool:
    """An agent's standard error is its log."""
    return log_of(process.pid) == str((run / "logs" / f"{name}.log").resolve())


@pytest.mark.parametrize("victim", ["consumer-0", "producer-0"])
def test_a_dead_agent_ends_the_run_at_once_with_what_was_recorded(
    kafka: str, run_here: Streamgauge, tmp_path: Path, victim: str
) -> None:
    survivor = "producer-0" if victim == "consumer-0" else "consumer-0"

    def strike() -> float:
        pid = wait_for(lambda: agent(tmp_path, victim), BEGIN_DEADLINE_S)
        # What was recorded up to two seconds before it is killed is there.
        wait_for(lambda: counted(tmp_path, survivor) > 4000, BEGIN_DEADLINE_S)
        os.kill(pid, signal.SIGKILL)
        return time.monotonic()

    with beside(strike) as struck:
        done = run_here(*long_run(tmp_path, "--bootstrap", kafka))
        assert time.monotonic() - struck.result(0) < SOON_S
    run = one_run(tmp_path)
    assert done.returncode == 1
    assert f"agent {victim} died: killed by SIGKILL" in done.stderr
    status = json.loads((run / "status.json").read_text())
    assert status["status"] == status["cases"]["001"]["status"] == "partial"
    manifest = json.loads((run / "events" / "manifests" / f"001-{survivor}.json").read_text())
    assert manifest["outcome"] == "stopped"
    assert sum(manifest["counts"].values()) > 1000
    wait_for(lambda: not agents_and_brokers(run), 60)
    # What was recorded can be analysed and shown.
    assert in_process("analyze", run).returncode == 0
    document = json.loads(in_process("results", run, "--json").stdout)
    assert document["status"] == "partial"
    assert document["cases"][0]["accounting"]["sent"] > 1000


def test_a_broker_of_ours_that_dies_ends_the_case_at_once_and_is_named(
    run_here: Streamgauge, tmp_path: Path
) -> None:
    def strike() -> float:
        wait_for(lambda: agent(tmp_path, "consumer-0"))
        [broker] = [
            found for found in agents_and_brokers(one_run(tmp_path)) if "kafka.Kafka" in found.info["cmdline"]
        ]
        os.kill(broker.pid, signal.SIGKILL)
        return time.monotonic()

    with beside(strike) as struck:
        done = run_here(*long_run(tmp_path, "--live", "off"))
        # Clients would go on trying for over two minutes.
        assert time.monotonic() - struck.result(0) < SOON_S / 2
    assert done.returncode == 1
    words = r"broker-1 of the Kafka cluster ended: killed by SIGKILL; its last words: .+; see .*broker-1\.log"
    assert re.search(words, " ".join(done.stderr.split())), done.stderr
    status = json.loads((one_run(tmp_path) / "status.json").read_text())
    assert re.search(words, status["cases"]["001"]["reason"])


TWO_CASES = """
name: two
targets: [{{name: kafka, driver: kafka_confluent, settings: {{bootstrap: "{bootstrap}"}}}}]
load: {{messages: 1000, rate: 1000, topics: {{name: two-{unique}}}}}
sweep: {{messages: [200k, 500]}}
"""


def test_a_dead_agent_ends_its_case_and_the_run_goes_on_with_a_new_process(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    file, out = tmp_path / "w.yaml", tmp_path / "runs"
    file.write_text(TWO_CASES.format(bootstrap=kafka, unique=tmp_path.name))
    out.mkdir()
    with beside(lambda: os.kill(wait_for(lambda: agent(out, "consumer-0")), signal.SIGKILL)):
        done = run_here("run", file, "--out", out)
    document = json.loads((one_run(out) / "results" / "results.json").read_text())
    broken, whole = document["cases"]
    assert (done.returncode, document["status"]) == (1, "failed")
    # Without its consumer, acknowledged messages were not seen: that is worse than partial.
    assert (broken["status"], whole["status"]) == ("failed", "ok")
    assert broken["notes"][0]["text"] == "agent consumer-0 died: killed by SIGKILL"
    assert whole["accounting"]["received"] == 500
    assert "case 001 of 2  partial" in done.stderr


@pytest.mark.parametrize(("ending", "is_own_broker"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_ending_it_early_leaves_nothing_running(
    *,
    ending: signal.Signals,
    is_own_broker: bool,
    kafka: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`make proof` ends runs of either kind by any signal (tests/cli/test_ends.py)."""
    out = tmp_path / "runs"
    out.mkdir()
    monkeypatch.setenv("STREAMGAUGE_STATE", str(tmp_path / "state"))
    process = start_long_run(out, *(() if is_own_broker else ("--bootstrap", kafka)))
    try:
        wait_for(lambda: agent(out, "consumer-0"))
        run = one_run(out)
        assert agents_and_brokers(run)
        os.killpg(process.pid, ending)
        _, stderr = process.communicate(timeout=120)
    finally:
        end(process)
    assert process.returncode == 128 + ending
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    wait_for(lambda: not agents_and_brokers(run), 20)
    assert json.loads((run / "status.json").read_text())["status"] == "partial"


WORKLOAD = """
name: mixed
targets:
  - name: kafka
    driver: kafka_confluent
    settings: {{bootstrap: "{bootstrap}"}}
    client: {{client.id: "${{SECRET_NAME}}"}}
    producer_client: {{linger.ms: 1}}
load:
  producers: 2
  consumers: 2
  messages: 1000
  rate: unlimited
  topics: {{name: mixed-{unique}, partitions: 4}}
  message: {{size: 100}}
cases:
  - {{acks: "0"}}
  - {{acks: "1"}}
  - {{acks: all}}
  - {{compression: gzip}}
  - {{compression: snappy}}
  - {{compression: lz4}}
  - {{compression: zstd}}
  - {{subscription: assigned}}
  - {{subscription: group}}
  - {{message: {{size: 8}}}}
  - {{message: {{size: 9, keys: {{kind: random, of: 7}}, headers: {{a: b}}}}}}
  - {{message: {{size: {{distribution: lognormal, min: 40, max: 3000, mean: 300, sd: 300}}}}}}
  - {{message: {{size: {{lines_of: "{lines}"}}}}}}
"""


def test_every_kind_of_load_loses_nothing(kafka: str, run_here: Streamgauge, tmp_path: Path) -> None:
    """All in one run: what is started for it is started once."""
    lines = tmp_path / "lines.txt"
    lines.write_text("one\ntwo, longer\n\nfour\n")
    file = tmp_path / "w.yaml"
    file.write_text(WORKLOAD.format(bootstrap=kafka, unique=tmp_path.name, lines=lines))
    done = run_here("run", file, "--out", tmp_path / "runs", env={"SECRET_NAME": "hush-hush-4711"})
    assert done.returncode == 0, done.stdout + done.stderr
    run = one_run(tmp_path / "runs")
    document = json.loads((run / "results" / "results.json").read_text())
    assert len(document["cases"]) == 13
    for case in document["cases"]:
        counted = case["accounting"]
        assert (counted["sent"], counted["received"]) == (1000, 1000), case["parameters"]
        assert counted["lost_write"] + counted["unseen"] + counted["corrupt"] + counted["unexpected"] == 0
    # A secret is nowhere in the run folder, nor in what was printed.
    assert "hush-hush-4711" not in done.stdout + done.stderr
    for path in run.rglob("*"):
        assert not path.is_file() or b"hush-hush-4711" not in path.read_bytes(), path
