"""The figures of updates, where there are so many that Spark helps; `figures_here` says the same of few."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamgauge.analysis.storage import local_frame
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.families.fanout.clock_shifts import SHIFTS
from streamgauge.families.fanout.update_figures import OF_CASE, OF_HOST, SCHEMAS, UpdateFigures
from streamgauge.tables.results import PERCENTILES


def figures_by_spark(
    session: SparkSession, updates: DataFrame, sent: pa.Table, shifted: pa.Table, shares: pa.Table
) -> UpdateFigures:
    """`sent`: on the reference clock; `shifted`: of `shift_rows`; `shares`: of `share_rows`."""
    if shifted.num_rows:
        updates = right_updates(updates, local_frame(session, shifted))
    samples = _on_hosts(_samples(session, updates, sent), local_frame(session, shares)).cache()
    measured, known = samples.where(~fn.col("is_warm_up")), samples.where(fn.col("intended_ns").isNotNull())
    frames = UpdateFigures(
        latency=_latency(measured, OF_CASE),
        host_latency=_latency(measured.where(fn.col("hostname").isNotNull()), OF_HOST),
        seconds=_seconds(known),
        measured_seconds=_measured_seconds(measured),
        named=known.groupBy("case", "client").agg(
            fn.countDistinct("stamp_ns").alias("distinct"), fn.count("*").alias("copies")
        ),
        strays=samples.where(fn.col("intended_ns").isNull())
        .groupBy("case", "client")
        .agg(fn.count("*").alias("count")),
        counts=measured.groupBy("case", fn.floor("latency_ms").alias("latency_ms")).agg(
            fn.count("*").alias("count")
        ),
    )
    found = [
        frame.toArrow().select(schema.names).cast(schema)
        for frame, schema in zip(frames, SCHEMAS, strict=True)
    ]
    samples.unpersist()
    return UpdateFigures(*found)


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


def _samples(session: SparkSession, updates: DataFrame, sent: pa.Table) -> DataFrame:
    """One row: a measured client's update, with the message it is of; strays have none."""
    names = ["case", "stamp_ns", "intended_ns", "is_warm_up"]
    generated = local_frame(session, sent.select(names))
    begins = generated.groupBy("case").agg(fn.min("intended_ns").alias("begin_ns"))
    found = updates.join(fn.broadcast(generated), on=["case", "stamp_ns"], how="left").join(
        fn.broadcast(begins), on="case", how="left"
    )
    return found.withColumns(
        {
            "latency_ms": (fn.col("received_ns") - fn.col("intended_ns")) / NS_PER_MS,
            "second": fn.floor((fn.col("intended_ns") - fn.col("begin_ns")) / NS_PER_S),
        }
    )


def _on_hosts(samples: DataFrame, shares: DataFrame) -> DataFrame:
    is_of_swarm = (fn.col("client") >= fn.col("first")) & (fn.col("client") < fn.col("end"))
    placed = samples.join(
        fn.broadcast(shares.withColumnRenamed("case", "of_case")),
        (fn.col("case") == fn.col("of_case")) & is_of_swarm,
        "left",
    )
    return placed.drop("of_case", "first", "end")


def _latency(measured: DataFrame, by: Sequence[str]) -> DataFrame:
    ranks = fn.array(*(fn.lit(rank) for rank in PERCENTILES.values()))
    summed = measured.groupBy(*by).agg(
        fn.count("*").alias("samples"),
        fn.mean("latency_ms").alias("mean_ms"),
        fn.stddev_samp("latency_ms").alias("sd_ms"),
        fn.min("latency_ms").alias("min_ms"),
        fn.max("latency_ms").alias("max_ms"),
        fn.percentile("latency_ms", ranks).alias("ranked"),
    )
    ranked = [fn.col("ranked")[place].alias(f"{name}_ms") for place, name in enumerate(PERCENTILES)]
    return summed.select(*by, "samples", "mean_ms", "sd_ms", "min_ms", "max_ms", *ranked)


def _seconds(known: DataFrame) -> DataFrame:
    return known.groupBy("case", "second").agg(
        fn.max("is_warm_up").alias("is_warm_up"),
        fn.count("*").alias("samples"),
        fn.percentile("latency_ms", fn.lit(0.5)).alias("p50_ms"),
        fn.percentile("latency_ms", fn.lit(0.99)).alias("p99_ms"),
        fn.max("latency_ms").alias("max_ms"),
    )


def _measured_seconds(measured: DataFrame) -> DataFrame:
    return measured.groupBy("case", "second").agg(
        fn.count("*").alias("count"), fn.percentile("latency_ms", fn.lit(0.5)).alias("p50")
    )
