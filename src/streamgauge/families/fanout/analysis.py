"""Events of a fan-out → its result tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from streamgauge.analysis.clocks import clocks
from streamgauge.analysis.feeding.event_files import checked_events
from streamgauge.analysis.feeding.sizing import is_done_here
from streamgauge.analysis.noise_floor import noise_floors_ms
from streamgauge.analysis.resources import on_reference_clock, resources
from streamgauge.analysis.result_rows import write_rows
from streamgauge.analysis.storage import read_events, read_few_events
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.families.fanout.accounts import accounts
from streamgauge.families.fanout.clock_shifts import right_generated, shift_rows
from streamgauge.families.fanout.event_tables import CLIENTS, GENERATED, TRAFFIC, UPDATES
from streamgauge.families.fanout.fault_figures import fanout_fault_figures
from streamgauge.families.fanout.figures_by_spark import figures_by_spark
from streamgauge.families.fanout.figures_here import figures_here
from streamgauge.families.fanout.hosts import host_rows, share_rows
from streamgauge.families.fanout.points import points
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS, POINT_HOSTS, POINT_SECONDS, POINTS
from streamgauge.families.fanout.seconds import point_seconds
from streamgauge.families.fanout.update_figures import UpdateFigures
from streamgauge.families.fanout.verdicts import judged_points
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.column import Table
from streamgauge.tables.events import MARKS, SAMPLES
from streamgauge.tables.results import CAUSES, RESOURCES


def fan_out(spark: Callable[[], SparkSession], run: RunDir, plan: Plan) -> None:
    """Compute every result table of a fan-out; Spark is asked for only where it helps."""

    def write(table: Table, rows: list[dict[str, Any]]) -> None:
        write_rows(run, table, pa.Table.from_pylist(rows, schema=table.arrow_schema()))

    samples_taken, marks = read_few_events(run, SAMPLES), read_few_events(run, MARKS).to_pylist()
    sent, clients = right_generated(read_few_events(run, GENERATED), marks), read_few_events(run, CLIENTS)
    figures = _figures(spark, run, plan, sent, marks)
    rows = points(
        plan,
        read_status(run),
        figures,
        clients=clients,
        sent=sent,
        traffic=read_few_events(run, TRAFFIC),
        usage_samples=on_reference_clock(samples_taken, marks),
        clocks=clocks(marks),
        noise_floors_ms=noise_floors_ms(run, plan),
    )
    for table, judged in zip((POINTS, CAUSES), judged_points(rows), strict=True):
        write(table, judged)
    firsts = sent.group_by("case").aggregate([("intended_ns", "min")]).to_pylist()
    starts_ns = {row["case"]: row["intended_ns_min"] for row in firsts}
    used = write_rows(run, RESOURCES, resources(samples_taken, marks, starts_ns)).to_pylist()
    write(POINT_SECONDS, point_seconds(figures.seconds.to_pylist(), used))
    on_hosts = accounts(clients, figures, share_rows(plan, marks)), figures.host_latency.to_pylist()
    write_rows(run, POINT_HOSTS, host_rows(marks, *on_hosts, used))
    write_rows(run, LATENCY_COUNTS, figures.counts)
    fanout_fault_figures(run, plan, sent, starts_ns)


def _figures(
    spark: Callable[[], SparkSession], run: RunDir, plan: Plan, sent: pa.Table, marks: list[dict[str, Any]]
) -> UpdateFigures:
    shifted, shares = shift_rows(plan, marks), share_rows(plan, marks)
    if is_done_here(sum(group.rows for group in checked_events(run, plan, UPDATES))):
        by_case = (read_few_events(run, UPDATES, case.id) for case in plan.cases)
        return figures_here(by_case, sent, shifted, shares)
    session = spark()
    return figures_by_spark(session, read_events(session, run, UPDATES), sent, shifted, shares)
