"""Table `point_hosts`: what became of the clients of each host, and what its processes used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from streamgauge.analysis.clocks import clock_lines
from streamgauge.core.clock import NS_PER_MS
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.result_tables import POINT_HOSTS
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.column import fields

Row = Mapping[str, Any]

SHARES = pa.schema([*fields(pa.string(), "case", "hostname"), *fields(pa.int64(), "first", "end")])
_COUNTS = ("clients", "expected", "received", "missing", "duplicate", "unexpected", "samples")
_TIMES = ("mean_ms", "p50_ms", "p99_ms", "max_ms")


def share_rows(plan: Plan, marks: Iterable[Row]) -> pa.Table:
    """One row: the clients of one swarm, and its host."""
    hostnames = {(mark["case"], mark["agent"]): mark["hostname"] for mark in marks}
    rows = [
        {
            "case": case.id,
            "hostname": hostnames[case.id, task.agent],
            "first": task.share[0],
            "end": sum(task.share),
        }
        for case in plan.cases
        for task in as_work(case.work, FanoutPoint).agents()
        if task.share is not None and (case.id, task.agent) in hostnames
    ]
    return pa.Table.from_pylist(rows, schema=SHARES)


def host_rows(
    marks: Iterable[Row], accounts: Iterable[Row], latencies: Iterable[Row], used: Iterable[Row]
) -> pa.Table:
    """One row: a host of a case. `used`: rows of table `resources`."""
    marked = list(marks)
    names = {(mark["case"], mark["host"]): mark["hostname"] for mark in marked}
    agents: dict[tuple[str, str], set[str]] = defaultdict(set)
    for mark in marked:
        agents[mark["case"], mark["hostname"]].add(mark["agent"])
    counted = {(row["case"], row["hostname"]): row for row in accounts}
    timed = {(row["case"], row["hostname"]): row for row in latencies}
    busy, doubts = _cores(names, used), _clock_errors_ms(marked)
    rows = []
    for place in sorted(agents):
        counts, times = counted.get(place, {}), timed.get(place, {})
        figures = {**counts, "samples": times.get("samples")}
        rows.append(
            {
                "case": place[0],
                "hostname": place[1],
                "agents": ", ".join(sorted(agents[place])),
                **{name: figures.get(name) or 0 for name in _COUNTS},
                **{name: times.get(name) for name in _TIMES},
                "cpu_cores": busy.get(place),
                "clock_error_ms": doubts.get(place),
            }
        )
    return pa.Table.from_pylist(rows, schema=POINT_HOSTS.arrow_schema())


def _clock_errors_ms(marks: list[Row]) -> dict[tuple[str, str], float]:
    """Of hosts whose clock had to be read."""
    lines = clock_lines(marks)
    return {
        (mark["case"], mark["hostname"]): line.error_ns / NS_PER_MS
        for mark in marks
        if (line := lines[mark["case"], mark["agent"]]) is not None
    }


def _cores(names: Mapping[tuple[str, str], str], used: Iterable[Row]) -> dict[tuple[str, str], float]:
    """Of all processes that are ours, each by its mean: what else the machine does is nobody's share."""
    each: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in used:
        hostname = names.get((row["case"], row["host"]))
        if hostname is not None and row["kind"] != "machine" and row["at_s"] >= 0:
            each[row["case"], hostname, row["source"]].append(row["cpu_cores"])
    found: dict[tuple[str, str], float] = defaultdict(float)
    for (case, hostname, _), cores in each.items():
        found[case, hostname] += sum(cores) / len(cores)
    return found
