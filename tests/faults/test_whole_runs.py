"""Runs with faults from workload to report: what was done, what it cost, and that nothing was lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.event_tables import OUTAGES
from streamgauge.plan.fault_file import FaultRecord, read_faults
from tests.cli.streamgauge_command import Streamgauge, in_process, one_run
from tests.light_java import LIGHT_JAVA

pytestmark = [pytest.mark.broker, pytest.mark.spark]

LOAD = {
    "kind": "e2e",
    "name": "short-faults",
    "targets": [
        {
            "name": "kafka",
            "driver": "kafka_confluent",
            "producer_client": {"enable.idempotence": True},
            "consumer_client": {"session.timeout.ms": 6000, "heartbeat.interval.ms": 1000},
            "system": {"kind": "kafka_cluster", "brokers": 1, "java_options": list(LIGHT_JAVA)},
        }
    ],
    "load": {
        "duration": "9s",
        "rate": "200/s",
        "consumers": 2,
        "subscription": "group",
        "acks": "all",
        "topics": {"partitions": 2},
        "warm_up_messages": 200,
        "drain_timeout": "60s",
        "faults": [
            {"kind": "link_delay", "at": 2, "for": 1, "delay": "300ms"},
            {"kind": "link_cut", "at": 4, "for": 1},
            {"kind": "consumer_kill", "at": 6, "number": 1},
        ],
    },
}
FANOUT = {
    "kind": "fanout",
    "name": "short-restart",
    "targets": [{"name": "gateway", "driver": "push_websocket"}],
    "fanout": {
        "clients": [30],
        "measured": 20,
        # Long enough that a hiccup of a busy machine at the end is told from an outage that lasts.
        "duration": "20s",
        "warm_up": "1s",
        "pause": "100ms",
        "drain_timeout": "2s",
        "faults": [{"kind": "gateway_restart", "at": 2, "for": 1}],
    },
}


def run_of(workload: dict[str, Any], run_here: Streamgauge, folder: Path) -> Path:
    file, out = folder / "workload.yaml", folder / "runs"
    file.write_text(yaml.safe_dump(workload))
    done = run_here("run", file, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    return one_run(out)


def records_of(run: Path) -> tuple[FaultRecord, ...]:
    [records] = read_faults(RunDir(str(run))).values()
    assert all(record.problem is None and record.began_ns for record in records)
    return records


def test_links_are_slow_and_cut_and_a_member_is_killed_and_nothing_is_lost(
    run_here: Streamgauge, tmp_path: Path
) -> None:
    run = run_of(LOAD, run_here, tmp_path)
    slow, cut, killed = records_of(run)
    assert [record.target for record in (slow, cut, killed)] == ["all links", "all links", "consumer-1"]
    assert all(record.ended_ns for record in (slow, cut))
    assert killed.ended_ns is None

    [case] = json.loads((run / "results" / "results.json").read_text())["cases"]
    of_slow, of_cut, of_kill = case["faults"]
    # How much is late hangs on how busy the machine was before; that nothing was sooner does not.
    assert of_slow["longest_ms"] >= 300
    assert of_cut["longest_ms"] >= 900
    # Its session has to time out before somebody else reads its partition.
    assert of_kill["longest_ms"] > 3000
    assert [(fault["failed_count"], fault["lost_count"]) for fault in case["faults"]] == [(0, 0)] * 3
    assert case["accounting"]["acked"] == case["accounting"]["received"] == 1800
    assert "fault_during_measuring" in [cause["code"] for cause in case["validity"]["causes"]]
    assert in_process("verify", run).returncode == 0
    page = (run / "report" / "index.html").read_text()
    assert all(kind in page for kind in ("link_delay all links", "link_cut all links", "consumer_kill"))


def test_a_gateway_is_killed_and_its_clients_come_back_and_what_they_missed_is_counted(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    workload = json.loads(json.dumps(FANOUT))
    workload["targets"][0]["settings"] = {"bootstrap": kafka}

    run = run_of(workload, run_here, tmp_path)

    [record] = records_of(run)
    assert record.target == "gateway"
    assert list((run / "events" / OUTAGES.name).rglob("*.parquet"))
    [point] = json.loads((run / "results" / "results.json").read_text())["fanout"]["points"]
    [fault] = point["faults"]
    effects = fault["effects"]
    assert (effects["sessions_lost_count"], effects["sessions_back_count"]) == (30, 30)
    assert effects["sessions_back_after_s"] >= 1
    assert fault["is_recovered"]
    assert fault["recover_s"] >= 1
    # Of the measured ones by name; of all by count.
    assert 0 < fault["lost_count"] < point["accounting"]["missing"]
    assert point["accounting"]["duplicate"] == 0
    assert "fault_during_measuring" in [cause["code"] for cause in point["validity"]["causes"]]
    assert point["integrity"]["verdict"] == "lost"
    assert "gateway_restart gateway" in (run / "report" / "index.html").read_text()
