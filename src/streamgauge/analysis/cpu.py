"""Table `cpu`: CPU used during the measured phase, and per message.

Agents read their own CPU time when the phase begins and ends. Brokers are sampled
about once a second, so their use is interpolated at the same two moments.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.resources import on_reference_clock
from streamgauge.analysis.schema import columns_of
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, CPU, MEASURE

_US_PER_S = 1e6


def cpu(samples: DataFrame, marks: DataFrame, accounting: DataFrame) -> DataFrame:
    """One row: the processes of one kind in one case."""
    processes = _agents(marks).unionByName(_brokers(samples, marks))
    kinds = (
        processes.where(fn.col("seconds") > 0)
        .groupBy("case", "kind")
        .agg(
            fn.count("*").alias("processes"),
            fn.sum("cpu_s").alias("cpu_s"),
            fn.max(fn.col("cpu_s") / fn.col("seconds")).alias("busiest_cores"),
        )
    )
    measured = accounting.where((fn.col("scope") == CASE) & (fn.col("phase") == MEASURE))
    handled = fn.when(fn.col("kind") == "consumer", fn.col("received")).otherwise(fn.col("sent"))
    per_message = fn.when(handled > 0, fn.col("cpu_s") * _US_PER_S / handled)
    counted = kinds.join(fn.broadcast(measured.select("case", "sent", "received")), on="case", how="left")
    return counted.withColumn("cpu_us_per_message", per_message).select(*columns_of(CPU))


def _agents(marks: DataFrame) -> DataFrame:
    """One row: an agent; a consumer's phase lasts until it has drained."""
    phases = marks.groupBy("case", "kind", "agent").agg(
        _at("measure_begin").alias("begin"), _at("measure_end").alias("end"), _at("drained").alias("drained")
    )
    drained = fn.when(fn.col("kind") == "consumer", fn.col("drained"))
    spans = phases.withColumn("end", fn.coalesce(drained, fn.col("end")))
    return spans.select(
        "case",
        "kind",
        (fn.col("end.cpu_s") - fn.col("begin.cpu_s")).alias("cpu_s"),
        ((fn.col("end.at_ns") - fn.col("begin.at_ns")) / NS_PER_S).alias("seconds"),
    )


def _brokers(samples: DataFrame, marks: DataFrame) -> DataFrame:
    """One row: a broker; what lies outside of its samples cannot be known, so the phase is cut to them."""
    brokers = on_reference_clock(samples.where(fn.col("kind") == "broker"), marks)
    phased = brokers.join(fn.broadcast(_phases(marks)), on="case", how="left")
    point = fn.struct("at_ns", "cpu_s")
    around = phased.groupBy("case", "kind", "host", "source").agg(
        fn.min(point).alias("first"),
        fn.max(point).alias("last"),
        *(
            column
            for edge in ("begin", "end")
            for column in (
                fn.first(f"{edge}_ns").alias(f"{edge}_ns"),
                fn.max(fn.when(fn.col("at_ns") <= fn.col(f"{edge}_ns"), point)).alias(f"{edge}_before"),
                fn.min(fn.when(fn.col("at_ns") >= fn.col(f"{edge}_ns"), point)).alias(f"{edge}_after"),
            )
        ),
    )
    return around.select(
        "case",
        "kind",
        (_interpolated("end", "cpu_s") - _interpolated("begin", "cpu_s")).alias("cpu_s"),
        ((_interpolated("end", "at_ns") - _interpolated("begin", "at_ns")) / NS_PER_S).alias("seconds"),
    )


def _phases(marks: DataFrame) -> DataFrame:
    """One row: a case, with the measured phase of all its agents together, on the reference clock."""
    at_ns = fn.col("at_ns") + fn.col("reference_offset_ns")
    return marks.groupBy("case").agg(
        fn.min(fn.when(fn.col("mark") == "measure_begin", at_ns)).alias("begin_ns"),
        fn.max(fn.when(fn.col("mark").isin("measure_end", "drained"), at_ns)).alias("end_ns"),
    )


def _at(mark: str) -> Column:
    """The agent's latest such mark."""
    return fn.max(fn.when(fn.col("mark") == mark, fn.struct("at_ns", "cpu_s")))


def _interpolated(edge: str, field: str) -> Column:
    """The field at an edge of the phase; at the outermost sample where the edge lies beyond it."""
    outermost = fn.col("first") if edge == "begin" else fn.col("last")
    before, after = fn.col(f"{edge}_before"), fn.col(f"{edge}_after")
    gap_ns = after["at_ns"] - before["at_ns"]
    share = fn.when(gap_ns > 0, (fn.col(f"{edge}_ns") - before["at_ns"]) / gap_ns).otherwise(0.0)
    between = before[field] + share * (after[field] - before[field])
    return fn.coalesce(between, before[field], after[field], outermost[field])
