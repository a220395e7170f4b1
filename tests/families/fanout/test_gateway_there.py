"""A fan-out through a gateway and a Kafka that somebody else has started: used, watched, and said so."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.systems.push_gateway import PushGateway
from tests.cli.streamgauge_command import Streamgauge, one_run

pytestmark = [pytest.mark.broker, pytest.mark.spark]

EXAMPLES = Path(__file__).parents[3] / "docs/examples/fanout"


def test_it_is_used_by_its_own_names_and_watched_by_its_port(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    topic = "test-gateway-there"
    admin = AdminClient({"bootstrap.servers": kafka})  # Kept: without it the request is given up.
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    given = (EXAMPLES / "scenario2/adapters.xml").read_text().replace("localhost:9092", kafka)
    config = tmp_path / "adapters.xml"
    config.write_text(given.replace("map.LTest.to", f"map.{topic}.to").replace("KafkaConnector", "MySet", 1))
    with PushGateway(config=config, log_dir=tmp_path) as gateway:
        [pid] = gateway.processes().values()
        done = run_here(
            *("fanout", "--bootstrap", kafka, "--gateway", gateway.endpoints()["gateway"], "--topic", topic),
            *("--adapter-set", "MySet", "--data-adapter", "QuickStart", "--mode", "raw", "--scenario", "2"),
            *("--clients", "40", "--measured", "all", "--duration", "4s", "--warm-up", "1s"),
            *("--out", tmp_path / "runs"),
        )
    assert done.returncode == 0, done.stderr
    run = one_run(tmp_path / "runs")
    fanout = json.loads((run / "results/results.json").read_text())["fanout"]
    [point] = fanout["points"]
    assert point["holds"], point
    assert (point["accounting"]["missing"], point["accounting"]["unexpected"]) == (0, 0)
    broker, server = fanout["servers_there"]
    assert broker.startswith("broker-1 (found by port ")
    assert server.endswith(f": process {pid})")
    assert point["use"]["broker"]["cpu_cores"] is not None
    assert point["use"]["gateway"]["cpu_cores"] is not None
    with (run / "report/csv/point_seconds.csv").open() as stream:
        seconds = list(csv.DictReader(stream))
    assert [int(row["second"]) for row in seconds] == list(range(5))
    assert any(row["gateway_cpu_cores"] for row in seconds)
    assert "By second: gateway, 40" in (run / "report/index.html").read_text()
