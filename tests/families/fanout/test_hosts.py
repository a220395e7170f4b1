"""A fan-out by host: rows from planted events, and the table that is made of them."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.families.fanout.document import HostPart
from streamgauge.families.fanout.host_table import host_tables
from streamgauge.families.fanout.hosts import host_rows, share_rows
from streamgauge.plan.plan_file import make_plan
from streamgauge.report.medium import Tone
from streamgauge.spec.workload import Workload
from tests.families.fanout.test_show import point

WORKLOAD = {
    "targets": [{"name": "gateway", "driver": "push_websocket"}],
    "fanout": {"clients": [10], "scenarios": ["2"], "gateway_hosts": ["g1"], "swarm_hosts": ["s1", "s2"]},
}
MARKS = [
    {"case": "001", "agent": agent, "hostname": name, "host": f"clock of {name}", "mark": "start"}
    for agent, name in {"producer-0": "g1", "gateway-0": "g1", "swarm-0": "s1", "swarm-1": "s2"}.items()
]


def used(source: str, kind: str, host: str, *cores: float, at_s: float = 1.0) -> list[dict[str, Any]]:
    about = {"case": "001", "source": source, "kind": kind, "host": f"clock of {host}", "at_s": at_s}
    return [{**about, "cpu_cores": busy} for busy in cores]


def test_clients_are_those_of_the_host_that_their_swarm_was_on() -> None:
    plan = make_plan(Workload.model_validate(WORKLOAD), "run")
    shares = share_rows(plan, MARKS).to_pylist()
    assert shares == [
        {"case": "001", "hostname": "s1", "first": 0, "end": 5},
        {"case": "001", "hostname": "s2", "first": 5, "end": 10},
    ]
    assert share_rows(plan, MARKS[:3]).num_rows == 1, "of a swarm that never began nobody knows the host"


def test_a_host_has_what_its_clients_got_and_what_its_processes_used() -> None:
    account = {"case": "001", "hostname": "s1", "clients": 5, "expected": 50, "received": 49, "missing": 1}
    account |= {"duplicate": 0, "unexpected": None, "without_any": 0, "measured_clients": 5}
    latency = {"case": "001", "hostname": "s1", "samples": 40, "mean_ms": 2.0, "p50_ms": 1.0, "p99_ms": 9.0}
    busy = [
        *used("producer-0", "producer", "g1", 0.1, 0.3),
        *used("gateway-0, gateway-1", "gateway", "g1", 0.5),
        *used("gateway-0, gateway-1", "gateway", "g1", 9.0, at_s=-1.0),
        *used("machine", "machine", "g1", 2.0),
        *used("broker-1", "broker", "elsewhere", 1.0),
    ]
    read: dict[str, Any] = {"at_ns": 0, "reference_offset_ns": 10**9, "reference_error_ns": 4_500_000}
    marks: list[dict[str, Any]] = [*MARKS, {**MARKS[2], **read, "mark": "clock"}]
    g1, s1, s2 = host_rows(marks, [account], [{**latency, "max_ms": 11.0}], busy).to_pylist()
    assert (g1["agents"], g1["clients"], g1["cpu_cores"]) == ("gateway-0, producer-0", 0, pytest.approx(0.7))
    assert (s1["expected"], s1["missing"], s1["samples"], s1["p99_ms"]) == (50, 1, 40, 9.0)
    assert (s2["hostname"], s2["clients"], s2["mean_ms"]) == ("s2", 0, None)
    assert [host["clock_error_ms"] for host in (g1, s1, s2)] == [None, 4.5, None]


def test_the_table_has_a_row_a_host_and_none_where_there_is_but_one() -> None:
    parts = host_rows(MARKS, [], [], []).to_pylist()
    hosts = [
        HostPart.model_validate({**{name: row[name] for name in HostPart.model_fields}, "agents": ["a"]})
        for row in parts
    ]
    with_clients = hosts[1].model_copy(update={"clients": 5, "expected": 50, "missing": 1})
    several = point("gateway", "2", 10, 3.0, hosts=[hosts[0], with_clients])
    [table] = host_tables("by host", [several, point("gateway", "2", 20, 3.0, hosts=hosts[:1])])
    cells = [[cell.value for cell in line.cells[1:6]] for line in table.rows]
    assert cells == [["g1", "a", 0, None, None], ["s1", "a", 5, 50, 1]]
    assert table.rows[1].cells[5].tone is Tone.BAD
    assert host_tables("by host", [point("gateway", "2", 10, 3.0, hosts=hosts[:1])]) == []
