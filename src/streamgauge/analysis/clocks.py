"""Table `clocks`: the clock of each agent against the reference; and what that does to times."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from streamgauge.analysis.schema import columns_of
from streamgauge.tables.results import CLOCKS

_NS_PER_MS = 1e6


def clocks(marks: DataFrame) -> DataFrame:
    """The offset is the one at the start; the error also covers how far it moved until the end."""
    agent = Window.partitionBy("case", "agent")
    start_ns = fn.max(fn.when(fn.col("mark") == "start", fn.col("at_ns"))).over(agent)
    offset_ns = fn.max_by("reference_offset_ns", fn.when(fn.col("mark") == "start", fn.col("at_ns"))).over(
        agent
    )
    since_start = marks.select("*", start_ns.alias("start_ns"), offset_ns.alias("offset_ns")).where(
        fn.col("at_ns") >= fn.col("start_ns")
    )
    moved_ns = fn.abs(fn.col("reference_offset_ns") - fn.col("offset_ns"))
    per_agent = since_start.groupBy("case", "agent").agg(
        fn.max("hostname").alias("hostname"),
        (fn.max("offset_ns") / _NS_PER_MS).alias("offset_ms"),
        (fn.max(moved_ns + fn.col("reference_error_ns")) / _NS_PER_MS).alias("error_ms"),
    )
    return per_agent.select(*columns_of(CLOCKS))


def agent_clocks(marks: DataFrame) -> DataFrame:
    """One row: an agent, with what its latest `start` mark says to add to its times."""
    starts = marks.where(fn.col("mark") == "start")
    return starts.groupBy("case", "kind", "number").agg(
        fn.max_by("reference_offset_ns", "at_ns").alias("reference_offset_ns"),
        fn.max_by("wall_offset_ns", "at_ns").alias("wall_offset_ns"),
    )


def host_clocks(marks: DataFrame) -> DataFrame:
    """One row: a host of a case; all its processes share one clock, so any agent's offset will do."""
    starts = marks.where(fn.col("mark") == "start")
    return starts.groupBy("case", "host").agg(
        fn.max_by("reference_offset_ns", "at_ns").alias("reference_offset_ns")
    )
