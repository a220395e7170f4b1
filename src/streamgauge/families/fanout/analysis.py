"""Events of a fan-out → its result tables."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

from streamgauge.analysis.storage import local_frame, read_events, write_result, write_rows
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.families.fanout.event_tables import CLIENTS, GENERATED, TRAFFIC, UPDATES
from streamgauge.families.fanout.points import latency_counts, planned_points, points, samples_of
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS, POINTS
from streamgauge.families.fanout.verdicts import judged_points
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.events import SAMPLES
from streamgauge.tables.results import CAUSES


def fan_out(session: SparkSession, run: RunDir, plan: Plan) -> None:
    """Compute every result table of a fan-out."""
    generated = local_frame(session, read_events(session, run, GENERATED).toArrow())
    samples = samples_of(read_events(session, run, UPDATES), generated).cache()
    figures = points(
        local_frame(session, planned_points(session, plan, read_status(run)).toArrow()),
        samples,
        clients=read_events(session, run, CLIENTS),
        generated=generated,
        traffic=read_events(session, run, TRAFFIC),
        usage_samples=read_events(session, run, SAMPLES),
    )
    rows = figures.toArrow().to_pylist()
    for table, judged in zip((POINTS, CAUSES), judged_points(rows), strict=True):
        write_rows(run, table, pa.Table.from_pylist(judged, schema=table.arrow_schema()))
    write_result(session, run, LATENCY_COUNTS, latency_counts(samples))
    samples.unpersist()
