"""Other drivers in a whole run: agents in processes of their own, with Java or an event loop inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.streamgauge_command import Streamgauge, one_run

pytestmark = [pytest.mark.broker, pytest.mark.spark]

MESSAGES = 1000
DRIVERS = {"java": "kafka_java", "aio": "kafka_aio"}


@pytest.fixture(scope="module")
def run(kafka: str, run_here: Streamgauge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drivers")
    workload = {
        "name": "drivers",
        "targets": [
            {
                "name": name,
                "driver": driver,
                "settings": {"bootstrap": kafka, "linger_ms": 0, "fetch_max_wait_ms": 100},
            }
            for name, driver in DRIVERS.items()
        ],
        "load": {
            "messages": MESSAGES,
            "rate": 1000,
            "warm_up_messages": 200,
            "message": {"size": 100},
            "acks": "1",
            "topics": {"name": "drivers"},
        },
    }
    (folder / "workload.yaml").write_text(yaml.safe_dump(workload))
    done = run_here("run", folder / "workload.yaml", "--out", folder / "runs")
    assert done.returncode == 0, done.stderr + done.stdout
    return one_run(folder / "runs")


@pytest.fixture(scope="module")
def document(run: Path) -> dict[str, Any]:
    return json.loads((run / "results" / "results.json").read_text())


def test_every_driver_delivers_every_message(document: dict[str, Any]) -> None:
    assert [case["target"] for case in document["cases"]] == list(DRIVERS)
    faults = ("failed", "lost_write", "unseen", "duplicate", "out_of_order", "corrupt", "unexpected")
    for case in document["cases"]:
        counted = case["accounting"]
        assert counted["sent"] == counted["acked"] == counted["received"] == MESSAGES, case["target"]
        assert {name: counted[name] for name in faults} == dict.fromkeys(faults, 0), case["target"]
        assert case["status"] == "ok"
        assert case["latency_ms"]["intended_to_received"]["count"] == MESSAGES


def test_settings_in_force_are_those_of_each_library(document: dict[str, Any]) -> None:
    clients = document["environment"]["clients"]
    assert clients["java"]["producer"]["linger.ms"] == "0"
    assert clients["java"]["producer"]["acks"] == "1"
    assert clients["java"]["consumer"]["fetch.max.wait.ms"] == "100"
    assert clients["aio"]["producer"]["acks"] == "1"
    assert clients["aio"]["consumer"]["fetch_max_wait_ms"] == "100"


def test_agents_tell_what_their_clients_counted(run: Path) -> None:
    told = {}
    for file in sorted((run / "events" / "manifests").rglob("*.json")):
        manifest = json.loads(file.read_text())
        told[manifest["case"], manifest["agent"]] = manifest["counters"]
    assert told["001", "producer-0"]["crossings"] > 0
    assert told["001", "consumer-0"]["crossings"] > 0
    assert told["002", "producer-0"] == {}
