"""Table `resources`: what each process and machine used between two samples."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from streamgauge.analysis.clocks import host_clocks
from streamgauge.analysis.schema import columns_of
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import RESOURCES

_COUNTERS = ("net_sent_bytes", "net_received_bytes", "disk_read_bytes", "disk_written_bytes")


def resources(samples: DataFrame, marks: DataFrame, starts: DataFrame) -> DataFrame:
    """One row: an interval. A process whose counters fell was started anew: no interval there."""
    placed = on_reference_clock(samples, marks).join(fn.broadcast(starts), on="case", how="left")
    source = Window.partitionBy("case", "host", "source").orderBy("at_ns")
    first_ns = fn.min("at_ns").over(Window.partitionBy("case"))
    seconds = (fn.col("at_ns") - fn.lag("at_ns").over(source)) / NS_PER_S
    intervals = placed.select(
        "*",
        seconds.alias("seconds"),
        (fn.col("cpu_s") - fn.lag("cpu_s").over(source)).alias("cpu_used_s"),
        ((fn.col("at_ns") - fn.coalesce("start_ns", first_ns)) / NS_PER_S).alias("at_s"),
        *((fn.col(name) - fn.lag(name).over(source)).alias(f"{name}_more") for name in _COUNTERS),
    )
    whole = intervals.where((fn.col("seconds") > 0) & (fn.col("cpu_used_s") >= 0))
    return whole.select(
        "*",
        (fn.col("cpu_used_s") / fn.col("seconds")).alias("cpu_cores"),
        *(_per_s(name).alias(f"{name}_per_s") for name in _COUNTERS),
    ).select(*columns_of(RESOURCES))


def on_reference_clock(samples: DataFrame, marks: DataFrame) -> DataFrame:
    """Samples with their times brought onto the reference clock."""
    placed = samples.join(fn.broadcast(host_clocks(marks)), on=["case", "host"], how="left")
    at_ns = fn.col("at_ns") + fn.coalesce("reference_offset_ns", fn.lit(0))
    return placed.withColumn("at_ns", at_ns).drop("reference_offset_ns")


def _per_s(name: str) -> Column:
    more = fn.col(f"{name}_more")
    return fn.when(more >= 0, more / fn.col("seconds"))
