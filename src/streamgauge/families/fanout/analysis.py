"""Events of a fan-out → its result tables."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

from streamgauge.analysis.resources import on_reference_clock, resources
from streamgauge.analysis.storage import (
    local_frame,
    read_events,
    read_few_events,
    write_result,
    write_rows,
)
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.families.fanout.event_tables import CLIENTS, GENERATED, TRAFFIC, UPDATES
from streamgauge.families.fanout.points import (
    latency_by_second,
    latency_counts,
    planned_points,
    points,
    samples_of,
)
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS, POINT_SECONDS, POINTS
from streamgauge.families.fanout.seconds import point_seconds
from streamgauge.families.fanout.verdicts import judged_points
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.events import MARKS, SAMPLES
from streamgauge.tables.results import CAUSES, RESOURCES


def fan_out(session: SparkSession, run: RunDir, plan: Plan) -> None:
    """Compute every result table of a fan-out."""
    sent = read_events(session, run, GENERATED).toArrow()
    generated = local_frame(session, sent)
    samples = samples_of(read_events(session, run, UPDATES), generated).cache()
    samples_taken, marks = read_few_events(run, SAMPLES), read_few_events(run, MARKS).to_pylist()
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
    rows = figures.toArrow().to_pylist()
    for table, judged in zip((POINTS, CAUSES), judged_points(rows), strict=True):
        write_rows(run, table, pa.Table.from_pylist(judged, schema=table.arrow_schema()))
    write_result(session, run, LATENCY_COUNTS, latency_counts(samples))
    samples.unpersist()
