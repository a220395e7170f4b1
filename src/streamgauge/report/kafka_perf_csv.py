"""The CSV files of a sweep, named and laid out as the Go benchmark before us wrote them.

Ten columns are theirs, with their names, widths and roundings; ours follow. A file holds all rounds of one
set of knobs: `summary` has a row a round, `topic` a row a topic and round, `partition` a row a partition.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import read_plan
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.spec.load import Load
from streamgauge.tables.results import (
    ACCOUNTING,
    CASE,
    LATENCY,
    MEASURE,
    PARTITION,
    RUNTIMES,
    TOPIC,
    VERDICTS,
)

THEIRS = {
    "Topic": "{:3d}",
    "Prtn": " {:3d}",
    "MsgSize": " {:6d}",
    "Messages": " {:6d}",
    "MinLat": " {:6.0f}",
    "MaxLat": " {:6.0f}",
    "AvgLat": " {:6.0f}",
    "Kbps": " {:7.1f}",
    "Msgps": " {:7.1f}",
    "Runtime": " {:7.1f}",
}
"""Latencies in whole ms; Kbps is KiB a second."""

_PERCENTILES = ("p50", "p90", "p99", "p99_9")
OURS = {
    "WallTime": " {:9.3f}",
    "WallKiBps": " {:9.1f}",
    "WallMsgps": " {:9.1f}",
    "MinMs": " {:9.3f}",
    "MaxMs": " {:9.3f}",
    "AvgMs": " {:9.3f}",
    **{f"{name.replace('_', '.').upper()}Ms": " {:9.3f}" for name in _PERCENTILES},
    "RuntimeS": " {:9.6f}",
    "Sent": " {:d}",
    "Case": " {}",
    "Round": " {:d}",
    "Status": " {}",
}

_IN_NAME = {
    "topics.count",
    "topics.partitions",
    "topics.replicas",
    "message.size",
    "stream_size",
    "acks",
    "completions",
    "transactions",
}
_SCOPES = {"summary": CASE, "topic": TOPIC, "partition": PARTITION}
_LEG = "intended_to_received"

Place = tuple[Any, Any]


def write_kafka_perf_csv(run: RunDir, tables: ResultTables) -> list[str]:
    """`report/csv/KafkaPerf-….csv` for every case whose partitions have streams of a given size."""
    status = read_status(run)
    lines: dict[str, list[str]] = defaultdict(list)
    for case in read_plan(run).cases:
        if not isinstance(case.work, Load) or case.work.stream_size is None:
            continue
        verdict = next((row["status"] for row in tables.rows(VERDICTS, case.id)), None)
        begun = status.cases.get(case.id)
        said = verdict or (begun.status if begun else "not run")
        for kind, scope in _SCOPES.items():
            lines[file_name(case, kind)] += _lines(case, scope, tables, said)
    places = []
    for name, rows in lines.items():
        place = f"{run.report_csv}/{name}"
        run.write_text(place, "\n".join([", ".join([*THEIRS, *OURS]), *rows, ""]))
        places.append(place)
    return places


def file_name(case: Case, kind: str) -> str:
    """As theirs; knobs that theirs did not have are named at the end, where they were turned."""
    load, topics = case.load, case.load.topics
    acks = -1 if load.acks == "all" else int(load.acks)
    name = (
        f"KafkaPerf-{case.target.name}-{kind}-T{topics.count:02d}-P{topics.partitions:02d}"
        f"-R{topics.replicas:02d}-M{load.message.size:06d}b-S{load.stream_size:09d}-A{acks:02d}"
        f"-C{str(load.completions).lower()}"
    )
    if load.transactions is not None:
        name += "-Etrue"
    for path, value in case.parameters.items():
        if path not in _IN_NAME:
            name += "-" + re.sub(r"[^A-Za-z0-9_.=-]+", "_", f"{path}={value}")
    return f"{name}.csv"


def _lines(case: Case, scope: str, tables: ResultTables, status: str) -> Iterator[str]:
    runtimes = _by_place(tables.rows(RUNTIMES, case.id, scope=scope))
    latencies = _by_place(tables.rows(LATENCY, case.id, scope=scope, leg=_LEG))
    counts = _by_place(tables.rows(ACCOUNTING, case.id, scope=scope, phase=MEASURE))
    for numbers, place in _places(case, scope):
        runtime, latency = runtimes.get(place, {}), latencies.get(place, {})
        wall_s = runtime.get("wall_s") or None
        values: dict[str, Any] = {
            "Topic": numbers[0],
            "Prtn": numbers[1],
            "MsgSize": case.load.message.size,
            "Messages": runtime.get("messages", 0),
            "MinLat": latency.get("min"),
            "MaxLat": latency.get("max"),
            "AvgLat": latency.get("mean"),
            "Kbps": runtime.get("kib_per_s"),
            "Msgps": runtime.get("messages_per_s"),
            "Runtime": runtime.get("runtime_s"),
            "WallTime": runtime.get("wall_s"),
            "WallKiBps": wall_s and runtime["bytes"] / 1024 / wall_s,
            "WallMsgps": wall_s and runtime["messages"] / wall_s,
            "MinMs": latency.get("min"),
            "MaxMs": latency.get("max"),
            "AvgMs": latency.get("mean"),
            **{f"{n.replace('_', '.').upper()}Ms": latency.get(n) for n in _PERCENTILES},
            "RuntimeS": runtime.get("runtime_s"),
            "Sent": counts.get(place, {}).get("sent", 0),
            "Case": case.id,
            "Round": case.iteration,
            "Status": status,
        }
        yield ",".join(_cell(values[name], layout) for name, layout in {**THEIRS, **OURS}.items())


def _places(case: Case, scope: str) -> Iterator[tuple[tuple[int, int], Place]]:
    """The two numbers that begin a row, and the topic and partition that its figures are of."""
    topics = case.load.topics
    if scope == CASE:
        yield (topics.count, topics.partitions), (None, None)
        return
    for number, name in enumerate(case.topics):
        if scope == TOPIC:
            yield (number, topics.partitions), (name, None)
        else:
            for partition in range(topics.partitions):
                yield (number, partition), (name, partition)


def _by_place(rows: list[Row]) -> dict[Place, Row]:
    return {(row["topic"], row["partition"]): row for row in rows}


def _cell(value: Any, layout: str) -> str:
    """What is not known is left empty, as wide as it would be."""
    return layout.format(value) if value is not None else " " * len(re.sub(r"\{.*", "", layout))
