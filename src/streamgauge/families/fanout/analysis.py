"""Events of a fan-out → its result tables."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamgauge.analysis.resources import on_reference_clock, resources
from streamgauge.analysis.result_rows import write_rows
from streamgauge.analysis.storage import local_frame, read_events, read_few_events, write_result
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.families.fanout.clock_shifts import SHIFTS, right_generated, shift_rows
from streamgauge.families.fanout.event_tables import CLIENTS, GENERATED, TRAFFIC, UPDATES
from streamgauge.families.fanout.fault_figures import fanout_fault_figures
from streamgauge.families.fanout.hosts import host_rows, share_rows
from streamgauge.families.fanout.points import (
    accounting,
    latency,
    latency_by_second,
    latency_counts,
    planned_points,
    points,
    samples_of,
)
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS, POINT_HOSTS, POINT_SECONDS, POINTS
from streamgauge.families.fanout.seconds import point_seconds
from streamgauge.families.fanout.verdicts import judged_points
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.events import MARKS, SAMPLES
from streamgauge.tables.results import CAUSES, RESOURCES


def fan_out(session: SparkSession, run: RunDir, plan: Plan) -> None:
    """Compute every result table of a fan-out."""
    samples_taken, marks = read_few_events(run, SAMPLES), read_few_events(run, MARKS).to_pylist()
    sent = right_generated(read_events(session, run, GENERATED).toArrow(), marks)
    generated, updates = local_frame(session, sent), read_events(session, run, UPDATES)
    if (shifted := shift_rows(plan, marks)).num_rows:
        updates = right_updates(updates, local_frame(session, shifted))
    samples = samples_of(updates, generated).cache()
    figures = points(
        local_frame(session, planned_points(session, plan, read_status(run)).toArrow()),
        samples,
        clients=read_events(session, run, CLIENTS),
        generated=generated,
        traffic=read_events(session, run, TRAFFIC),
        usage_samples=local_frame(session, on_reference_clock(samples_taken, marks)),
    )
    firsts = sent.group_by("case").aggregate([("intended_ns", "min")]).to_pylist()
    starts_ns = {row["case"]: row["intended_ns_min"] for row in firsts}
    used = write_rows(run, RESOURCES, resources(samples_taken, marks, starts_ns)).to_pylist()
    seconds = point_seconds(latency_by_second(samples, generated).toArrow().to_pylist(), used)
    write_rows(run, POINT_SECONDS, pa.Table.from_pylist(seconds, schema=POINT_SECONDS.arrow_schema()))
    _write_hosts(session, run, plan, samples, marks, used)
    rows = figures.toArrow().to_pylist()
    for table, judged in zip((POINTS, CAUSES), judged_points(rows), strict=True):
        write_rows(run, table, pa.Table.from_pylist(judged, schema=table.arrow_schema()))
    write_result(session, run, LATENCY_COUNTS, latency_counts(samples))
    samples.unpersist()
    fanout_fault_figures(run, plan, sent, starts_ns)


def right_updates(updates: DataFrame, shift_frame: DataFrame) -> DataFrame:
    """`shift_frame`: of `shift_rows`; clients that it does not have are left as they are."""
    is_theirs = (
        (fn.col("case") == fn.col("of_case"))
        & (fn.col("client") >= fn.col("first"))
        & (fn.col("client") < fn.col("end"))
    )
    known = updates.join(fn.broadcast(shift_frame), is_theirs, "left")
    drifted = fn.round(fn.col("drift") * (fn.col("received_ns") - fn.col("since_ns"))).cast("long")
    moved = fn.col("received_ns") + fn.coalesce(fn.col("shift_ns") + drifted, fn.lit(0))
    return known.withColumn("received_ns", moved).drop(*SHIFTS.names)


def _write_hosts(
    session: SparkSession,
    run: RunDir,
    plan: Plan,
    samples: DataFrame,
    marks: list[dict[str, Any]],
    used: list[dict[str, Any]],
) -> None:
    """By host, as the points are: of whoever has clients what they got, of all what they used."""
    shares = local_frame(session, share_rows(plan, marks))
    is_of_swarm = (fn.col("client") >= fn.col("first")) & (fn.col("client") < fn.col("end"))

    def on_host(frame: DataFrame) -> DataFrame:
        placed = frame.alias("one").join(
            fn.broadcast(shares.withColumnRenamed("case", "of_case")),
            (fn.col("case") == fn.col("of_case")) & is_of_swarm,
        )
        return placed.drop("of_case", "first", "end")

    by = ("case", "hostname")
    placed = on_host(samples)
    accounts = accounting(placed, on_host(read_events(session, run, CLIENTS)), by).toArrow().to_pylist()
    latencies = latency(placed, by).toArrow().to_pylist()
    write_rows(run, POINT_HOSTS, host_rows(marks, accounts, latencies, used))
