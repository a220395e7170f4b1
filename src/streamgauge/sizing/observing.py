"""What the loads of a calibration took: from the result tables of their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.family_tables import result_tables_of
from streamgauge.plan.plan_file import read_plan
from streamgauge.report.result_tables import read_result
from streamgauge.sizing.costs import MeasuredClients, MeasuredMessages
from streamgauge.sizing.loads import MESSAGE_QUANTITIES, ClientLoad, MessageLoad
from streamgauge.tables.events import RECEIVES, SENDS
from streamgauge.tables.results import CASE, CPU, RESOURCES, SECOND, THROUGHPUT

_BITS = 8
_POINTS = "points"
"""A row: so many clients in one scenario."""


def measured_messages(run: RunDir) -> Iterator[MeasuredMessages]:
    """Of every case that was run to its end: one that fell behind its rate would say too little."""
    tables = {table.name: read_result(run, table) for table in (CPU, RESOURCES, THROUGHPUT)}
    before: list[MessageLoad] = []
    for case in read_plan(run).cases:
        own = {name: table.filter(pc.field("case") == case.id) for name, table in tables.items()}
        rate_per_s = _rate_per_s(own[THROUGHPUT.name])
        if rate_per_s:
            load = _load(case, rate_per_s)
            yield MeasuredMessages(load=_after(load, before), took=_took(run, case, own, rate_per_s))
            before.append(load)


def measured_clients(run: RunDir) -> Iterator[MeasuredClients]:
    """Of every point that held."""
    tables = {table.name: table for table in result_tables_of(read_plan(run).kind)}
    before: int | None = None
    for row in read_result(run, tables[_POINTS]).sort_by("case").to_pylist():
        if row["holds"]:
            load = ClientLoad(clients=row["clients"], scenario=row["scenario"], peak_clients=before)
            yield MeasuredClients(load=load, took=_took_by_clients(row))
        before = max(row["clients"], before or 0)


def _load(case: Case, rate_per_s: float) -> MessageLoad:
    load, system = case.load, case.target.system
    return MessageLoad(
        rate_per_s=rate_per_s,
        size_bytes=round(load.message.mean_bytes),
        replicas=load.topics.replicas,
        producers=load.producers,
        consumers=load.consumers,
        brokers=1 if system is None else system.most_replicas or 1,
        partitions=load.partition_count,
    )


def _after(load: MessageLoad, before: Sequence[MessageLoad]) -> MessageLoad:
    """Cases of a run have the same processes, one case after the other."""
    if not before:
        return load
    return load.model_copy(
        update={
            "peak_rate_per_s": max(one.rate_per_s for one in before),
            "peak_size_bytes": max(one.size_bytes for one in before),
            "peak_bytes_per_s": max(one.rate_per_s * one.size_bytes for one in before),
        }
    )


def _rate_per_s(throughput: pa.Table) -> float | None:
    rows = throughput.filter(pc.field("scope") == CASE).to_pylist()
    return rows[0]["sent_messages_per_s"] if rows else None


def _took(run: RunDir, case: Case, tables: Mapping[str, pa.Table], rate_per_s: float) -> dict[str, float]:
    took: dict[str, float | None] = {}
    for row in tables[CPU.name].to_pylist():
        per_message = row["cpu_us_per_message"]
        took[f"{row['kind']}_cores"] = None if per_message is None else per_message * rate_per_s / 1e6
    while_measured = _while_measured(tables[RESOURCES.name], tables[THROUGHPUT.name])
    for kind in ("producer", "consumer", "broker"):
        own = while_measured.filter(pc.field("kind") == kind)
        most = own.group_by("source").aggregate([("rss_bytes", "max")])
        took[f"{kind}_memory_bytes"] = pc.sum(most["rss_bytes_max"]).as_py()
    took["network_bytes_per_s"] = _mean(while_measured, "machine", "net_sent_bytes_per_s")
    took["broker_disk_bytes_per_s"] = _mean(while_measured, "broker", "disk_written_bytes_per_s")
    took["events_bytes_per_s"] = _events_bytes(run, case) * rate_per_s
    return {name: value for name in MESSAGE_QUANTITIES if (value := took.get(name))}


def _while_measured(resources: pa.Table, throughput: pa.Table) -> pa.Table:
    """Intervals that lie wholly in the seconds that count."""
    seconds = throughput.filter(pc.field("scope") == SECOND)["second"]
    if not len(seconds):
        return resources.slice(0, 0)
    first, last = pc.min(seconds).as_py(), pc.max(seconds).as_py()
    return resources.filter((pc.field("at_s") >= first + 1.0) & (pc.field("at_s") <= last + 1.0))


def _mean(resources: pa.Table, kind: str, column: str) -> float | None:
    """Of all processes of a kind together."""
    own = resources.filter(pc.field("kind") == kind)
    each = own.group_by("source").aggregate([(column, "mean")])[f"{column}_mean"]
    total: float | None = pc.sum(each).as_py()
    return total


def _events_bytes(run: RunDir, case: Case) -> float:
    """On disk, of a message: its send, and its receipt."""
    content = rows = 0
    for table in (SENDS, RECEIVES):
        for file in run.list_files(run.events(table.name, case.id), ".parquet"):
            with run.open_input(file) as stream:
                content += stream.size()
                rows += pq.ParquetFile(stream).metadata.num_rows if table is SENDS else 0
    return content / rows if rows else 0.0


def _took_by_clients(row: Mapping[str, Any]) -> dict[str, float]:
    bits = (row["to_clients_bits_per_s"], row["from_clients_bits_per_s"])
    took: dict[str, float | None] = {
        "gateway_cores": row["gateway_cpu_cores"],
        "swarm_cores": row["swarm_cpu_cores"],
        "gateway_memory_bytes": row["gateway_memory_bytes"],
        "swarm_memory_bytes": row["swarm_memory_bytes"],
        "network_bytes_per_s": None if None in bits else sum(bits) / _BITS,
    }
    return {name: value for name, value in took.items() if value}
