"""Table `points`: latency, accounting, traffic and use of every case of a fan-out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamgauge.analysis.schema import columns_of
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS, ROLES
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.column import fields
from streamgauge.tables.results import PERCENTILES

_PLANNED = pa.schema(
    [
        *fields(pa.string(), "case", "series", "via", "scenario", "status", "status_reason"),
        *fields(pa.int64(), "clients", "fault_count"),
        *fields(pa.float64(), "mean_limit_ms"),
        *fields(pa.bool_(), "holds", "is_skipped", "is_conflated", "rested"),
    ]
)
_BITS = 8
_OF_CASE = ("case",)


def planned_points(session: SparkSession, plan: Plan, status: RunStatus) -> DataFrame:
    rows = [_planned_row(case, status.cases.get(case.id)) for case in plan.cases]
    return session.createDataFrame(pa.Table.from_pylist(rows, schema=_PLANNED))


def _planned_row(case: Case, ended: CaseStatus | None) -> Mapping[str, Any]:
    point = as_work(case.work, FanoutPoint)
    was_run = ended is not None and not ended.is_skipped
    return {
        "case": case.id,
        "series": point.series,
        "via": point.via,
        "scenario": point.scenario,
        "clients": point.clients,
        "status": ended.status if ended is not None and was_run else "not run",
        "holds": ended.holds if ended is not None else None,
        "is_skipped": ended is not None and ended.is_skipped,
        "status_reason": ended.reason if ended is not None else None,
        "mean_limit_ms": 1000 * point.fanout.mean_limit,
        "is_conflated": point.is_conflated,
        "fault_count": sum(1 for fault in case.faults if fault.began_ns is not None),
        "rested": None if case.warm_up is None else case.warm_up.rested,
    }


def samples_of(updates: DataFrame, generated: DataFrame) -> DataFrame:
    """One row: a measured client's update, with the message it is of and its latency; strays have neither."""
    sent = generated.select("case", "stamp_ns", "intended_ns", "is_warm_up")
    found = updates.join(fn.broadcast(sent), on=["case", "stamp_ns"], how="left")
    latency = (fn.col("received_ns") - fn.col("intended_ns")) / NS_PER_MS
    return found.withColumn("latency_ms", latency)


def latency_counts(samples: DataFrame) -> DataFrame:
    counted = samples.where(~fn.col("is_warm_up"))
    whole = fn.floor("latency_ms").alias("latency_ms")
    return (
        counted.groupBy("case", whole)
        .agg(fn.count("*").alias("count"))
        .selectExpr(*columns_of(LATENCY_COUNTS))
    )


def latency(samples: DataFrame, by: Sequence[str] = _OF_CASE) -> DataFrame:
    measured = samples.where(~fn.col("is_warm_up"))
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


def latency_by_second(samples: DataFrame, generated: DataFrame) -> DataFrame:
    """One row: the messages of a case that were due within one second since its first."""
    begins = generated.groupBy("case").agg(fn.min("intended_ns").alias("begin_ns"))
    known = samples.where(fn.col("intended_ns").isNotNull()).join(fn.broadcast(begins), on="case")
    second = fn.floor((fn.col("intended_ns") - fn.col("begin_ns")) / NS_PER_S).alias("second")
    return known.groupBy("case", second).agg(
        fn.max("is_warm_up").alias("is_warm_up"),
        fn.count("*").alias("samples"),
        fn.percentile("latency_ms", fn.lit(0.5)).alias("p50_ms"),
        fn.percentile("latency_ms", fn.lit(0.99)).alias("p99_ms"),
        fn.max("latency_ms").alias("max_ms"),
    )


def _seconds(samples: DataFrame) -> DataFrame:
    """The medians of a case's seconds, in their order."""
    second = fn.floor(fn.col("intended_ns") / NS_PER_S).alias("second")
    medians = (
        samples.where(~fn.col("is_warm_up"))
        .groupBy("case", second)
        .agg(fn.percentile("latency_ms", fn.lit(0.5)).alias("p50"))
    )
    return medians.groupBy("case").agg(
        fn.sort_array(fn.collect_list(fn.struct("second", "p50"))).alias("seconds")
    )


def accounting(samples: DataFrame, clients: DataFrame, by: Sequence[str] = _OF_CASE) -> DataFrame:
    """Measured clients by the names of what they got, the others by how much they got."""
    known = samples.where(fn.col("intended_ns").isNotNull())
    named = known.groupBy("case", "client").agg(
        fn.countDistinct("stamp_ns").alias("distinct"), fn.count("*").alias("copies")
    )
    strays = samples.where(fn.col("intended_ns").isNull()).groupBy(*by).agg(fn.count("*").alias("unexpected"))
    each = clients.join(named, on=["case", "client"], how="left").fillna({"distinct": 0, "copies": 0})
    got = fn.when(fn.col("is_measured"), fn.col("distinct")).otherwise(
        fn.least(fn.col("updates"), fn.col("expected"))
    )
    again = fn.when(fn.col("is_measured"), fn.col("copies") - fn.col("distinct")).otherwise(
        fn.greatest(fn.col("updates") - fn.col("expected"), fn.lit(0))
    )
    total = each.groupBy(*by).agg(
        fn.count("*").alias("clients"),
        fn.sum("expected").alias("expected"),
        fn.sum("updates").alias("received"),
        fn.sum(fn.greatest(fn.col("expected") - got, fn.lit(0))).alias("missing"),
        fn.sum(((fn.col("expected") > 0) & (got == 0)).cast("long")).alias("without_any"),
        fn.sum(again).alias("duplicate"),
        fn.sum(fn.col("is_measured").cast("long")).alias("measured_clients"),
    )
    return total.join(strays, on=list(by), how="left")


def _sending(generated: DataFrame) -> DataFrame:
    taken = generated.where(fn.col("acked_ns").isNotNull())
    seconds = (fn.max("sent_ns") - fn.min("sent_ns")) / NS_PER_S
    lag_ms = fn.when(~fn.col("is_warm_up"), (fn.col("sent_ns") - fn.col("intended_ns")) / NS_PER_MS)
    return taken.groupBy("case").agg(
        fn.count("*").alias("messages"),
        fn.when(seconds > 0, (fn.count("*") - 1) / seconds).alias("rate_per_s"),
        fn.min(fn.when(~fn.col("is_warm_up"), fn.col("intended_ns"))).alias("begin_ns"),
        fn.max("sent_ns").alias("end_ns"),
        fn.percentile(lag_ms, fn.lit(0.99)).alias("lag_p99_ms"),
    )


def _traffic(traffic: DataFrame, accounts: DataFrame, planned: DataFrame) -> DataFrame:
    summed = traffic.groupBy("case").agg(
        fn.sum("received_bytes").alias("bytes_in"),
        fn.sum("sent_bytes").alias("bytes_out"),
        fn.max("seconds").alias("seconds"),
    )
    found = summed.join(accounts.select("case", "received"), on="case", how="left").join(
        planned.select("case", "clients"), on="case", how="left"
    )
    return found.select(
        "case",
        (_BITS * fn.col("bytes_in") / fn.col("seconds")).alias("to_clients_bits_per_s"),
        (_BITS * fn.col("bytes_out") / fn.col("seconds")).alias("from_clients_bits_per_s"),
        (fn.col("bytes_in") / fn.col("clients")).alias("bytes_per_client"),
        fn.when(fn.col("received") > 0, fn.col("bytes_in") / fn.col("received")).alias("bytes_per_update"),
    )


def _usage(samples: DataFrame, sending: DataFrame) -> DataFrame:
    """Of each kind of process, while messages that count were sent."""
    within = samples.join(fn.broadcast(sending), on="case", how="inner").where(
        (fn.col("at_ns") >= fn.col("begin_ns")) & (fn.col("at_ns") <= fn.col("end_ns"))
    )
    seconds = (fn.max("at_ns") - fn.min("at_ns")) / NS_PER_S

    def per_s(name: str) -> Any:
        more = fn.max(name) - fn.min(name)
        return fn.when(seconds > 0, more / seconds)

    each = within.groupBy("case", "kind", "source").agg(
        per_s("cpu_s").alias("cpu_cores"),
        fn.max("rss_bytes").alias("memory_bytes"),
        (_BITS * per_s("net_sent_bytes")).alias("sent_bits_per_s"),
        (_BITS * per_s("net_received_bytes")).alias("received_bits_per_s"),
        (per_s("cpu_s") / fn.max("cores")).alias("share"),
        (fn.max("swapped_bytes") - fn.min("swapped_bytes")).alias("swapped_bytes"),
        (fn.max("throttled_count") - fn.min("throttled_count")).alias("throttled_count"),
    )

    def of(role: str, name: str) -> Any:
        return fn.sum(fn.when(fn.col("kind") == role, fn.col(name)))

    def machine(name: str) -> Any:
        return fn.max(fn.when(fn.col("kind") == "machine", fn.col(name)))

    return each.groupBy("case").agg(
        machine("share").alias("machine_share"),
        machine("swapped_bytes").alias("swapped_bytes"),
        machine("throttled_count").alias("throttled_count"),
        *(of(role, name).alias(f"{role}_{name}") for role in ROLES for name in ("cpu_cores", "memory_bytes")),
        of("broker", "sent_bits_per_s").alias("broker_sent_bits_per_s"),
        of("broker", "received_bits_per_s").alias("broker_received_bits_per_s"),
    )


def points(
    planned: DataFrame,
    samples: DataFrame,
    *,
    clients: DataFrame,
    generated: DataFrame,
    traffic: DataFrame,
    usage_samples: DataFrame,
) -> DataFrame:
    """One row a case, also of those that did not run; not judged yet."""
    sending, accounts = _sending(generated), accounting(samples, clients).drop("clients")
    parts = [
        latency(samples),
        _seconds(samples),
        accounts,
        sending.drop("begin_ns", "end_ns"),
        _traffic(traffic, accounts, planned),
        _usage(usage_samples, sending.select("case", "begin_ns", "end_ns")),
    ]
    whole = planned
    for part in parts:
        whole = whole.join(part, on="case", how="left")
    counts = ("messages", "expected", "received", "missing", "duplicate", "unexpected", "samples")
    filled = whole.fillna(0, [*counts, "without_any", "measured_clients"])
    # As `left_out` of a swarm: what conflation leaves out is not missing, but it never leaves out all.
    missing, is_conflated = fn.col("missing"), fn.col("is_conflated")
    conflated = fn.when(is_conflated, missing - fn.col("without_any")).otherwise(fn.lit(0).cast("long"))
    lost = fn.when(is_conflated, fn.col("without_any")).otherwise(missing)
    return filled.withColumns({"conflated": conflated, "missing": lost}).drop("without_any")
