"""Table `clocks`: the clock of each agent against the reference; and what that does to times.

On other hosts than the launcher's the clock was read before, during and after the case. A line through the
first and the last reading says what to add at any moment. The bound is that of these two readings, and as
much more as any reading in between lies beyond its own bound from the line.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from streamgauge.analysis.schema import columns_of
from streamgauge.tables.events import CLOCK_MARK
from streamgauge.tables.results import CLOCKS

_NS_PER_MS = 1e6
_PPM = 1e6
_AGENT = ("case", "agent")


def clocks(marks: DataFrame) -> DataFrame:
    """One row: an agent that started."""
    started = _since_start(marks)
    described = started.join(clock_lines(marks), on=list(_AGENT), how="left")
    return described.select(
        *_AGENT,
        "hostname",
        (fn.coalesce("line_offset_ns", "offset_ns") / _NS_PER_MS).alias("offset_ms"),
        (fn.coalesce("line_error_ns", "error_ns") / _NS_PER_MS).alias("error_ms"),
        (fn.coalesce("drift", fn.lit(0.0)) * _PPM).alias("drift_ppm"),
        fn.coalesce("readings", fn.lit(0)).alias("readings"),
    ).select(*columns_of(CLOCKS))


def agent_clocks(marks: DataFrame) -> DataFrame:
    """One row: an agent by its number, with what to add to its times (`on_reference`)."""
    starts = marks.where(fn.col("mark") == "start")
    latest = starts.groupBy("case", "agent", "kind", "number").agg(
        fn.max_by("reference_offset_ns", "at_ns").alias("start_offset_ns"),
        fn.max_by("wall_offset_ns", "at_ns").alias("wall_offset_ns"),
    )
    lined = latest.join(clock_lines(marks), on=list(_AGENT), how="left")
    return lined.select(
        "case",
        "kind",
        "number",
        fn.coalesce("line_offset_ns", "start_offset_ns").alias("reference_offset_ns"),
        fn.coalesce("anchor_ns", fn.lit(0)).alias("anchor_ns"),
        fn.coalesce("drift", fn.lit(0.0)).alias("drift"),
        "wall_offset_ns",
    )


def on_reference(at_ns: Column, prefix: str = "") -> Column:
    """A time of an agent on the reference clock; its row has the columns of `agent_clocks`."""
    offset_ns = fn.coalesce(fn.col(f"{prefix}reference_offset_ns"), fn.lit(0))
    moved_ns = (at_ns - fn.col(f"{prefix}anchor_ns")) * fn.col(f"{prefix}drift")
    return at_ns + offset_ns + fn.coalesce(fn.round(moved_ns).cast("long"), fn.lit(0))


def host_clocks(marks: DataFrame) -> DataFrame:
    """One row: a host of a case; all its processes share one clock, so any agent's offset will do."""
    starts = marks.where(fn.col("mark") == "start")
    return starts.groupBy("case", "host").agg(
        fn.max_by("reference_offset_ns", "at_ns").alias("reference_offset_ns")
    )


def clock_lines(marks: DataFrame) -> DataFrame:
    """One row: an agent whose clock was read, with the line through its first and last reading."""
    read = marks.where(fn.col("mark") == CLOCK_MARK)
    reading = fn.struct("at_ns", "reference_offset_ns", "reference_error_ns")
    agent = Window.partitionBy(*_AGENT)
    ends = read.select(
        *_AGENT,
        "at_ns",
        "reference_offset_ns",
        "reference_error_ns",
        fn.min(reading).over(agent).alias("first"),
        fn.max(reading).over(agent).alias("last"),
    )
    span_ns = fn.col("last.at_ns") - fn.col("first.at_ns")
    moved_ns = fn.col("last.reference_offset_ns") - fn.col("first.reference_offset_ns")
    drift = fn.when(span_ns > 0, moved_ns / span_ns).otherwise(0.0)
    expected_ns = fn.col("first.reference_offset_ns") + drift * (fn.col("at_ns") - fn.col("first.at_ns"))
    beside_ns = fn.abs(fn.col("reference_offset_ns") - expected_ns) - fn.col("reference_error_ns")
    ends_error_ns = fn.greatest("first.reference_error_ns", "last.reference_error_ns")
    return ends.groupBy(*_AGENT).agg(
        fn.first("first.at_ns").alias("anchor_ns"),
        fn.first("first.reference_offset_ns").alias("line_offset_ns"),
        fn.max(drift).alias("drift"),
        fn.max(ends_error_ns + fn.greatest(beside_ns, fn.lit(0.0))).alias("line_error_ns"),
        fn.count("*").alias("readings"),
    )


def _since_start(marks: DataFrame) -> DataFrame:
    """One row: an agent; without readings the offset is the start's, and how far it moved is an error."""
    own = marks.where(fn.col("mark") != CLOCK_MARK)
    agent = Window.partitionBy(*_AGENT)
    at_start = fn.when(fn.col("mark") == "start", fn.col("at_ns"))
    since_start = own.select(
        "*",
        fn.max(at_start).over(agent).alias("start_ns"),
        fn.max_by("reference_offset_ns", at_start).over(agent).alias("start_offset_ns"),
    ).where(fn.col("at_ns") >= fn.col("start_ns"))
    moved_ns = fn.abs(fn.col("reference_offset_ns") - fn.col("start_offset_ns"))
    return since_start.groupBy(*_AGENT).agg(
        fn.max("hostname").alias("hostname"),
        fn.max("start_offset_ns").alias("offset_ns"),
        fn.max(moved_ns + fn.col("reference_error_ns")).alias("error_ns"),
    )
