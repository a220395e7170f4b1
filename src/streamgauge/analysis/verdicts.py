"""Table `verdicts`: whether a case can be trusted, and what is to be known of it.

A case that lost, damaged or failed to deliver a message has failed. A case that missed
its rate is still a measurement, but it is marked.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.bottleneck import SCHEDULE_LAG_MS, bottleneck, bottleneck_reason, figures_of
from streamgauge.analysis.schema import columns_of
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import ACCOUNTING, CASE, MEASURE, SECOND, VERDICTS

RATE_HELD = 0.99
"""Share of the wanted rate below which a case has missed it."""

_DRIFT_DIGITS = 9
DRIFT_SECONDS = 3
"""Fewer points say nothing of a slope."""

_COUNTS = [column.name for column in ACCOUNTING.columns if column.kind == "int64"]
_FAULTS = ("lost_write", "unseen", "corrupt", "failed")


def verdicts(
    cases: DataFrame,
    messages: DataFrame,
    *,
    accounting: DataFrame,
    latency: DataFrame,
    throughput: DataFrame,
    cpu: DataFrame,
    resources: DataFrame,
    clocks: DataFrame,
) -> DataFrame:
    """One row: a case of the plan, whether it was run or not."""
    counted = cases.join(_totals(accounting), on="case", how="left").na.fill(0, [*_COUNTS, "measured"])
    described = counted.join(_measured(messages), on="case", how="left").join(
        figures_of(latency, throughput, cpu, resources), on="case", how="left"
    )
    bounded = described.join(_clock_bounds(clocks, latency), on="case", how="left")
    judged = bounded.join(_drifts(latency), on="case", how="left").withColumn("missed_rate", _missed_rate())
    is_faulty = (fn.greatest(*_FAULTS) > 0) | (_missing() > 0)
    return judged.select(
        "case",
        fn.when(is_faulty, fn.lit("failed")).otherwise(fn.col("status")).alias("status"),
        fn.concat_ws("\n", *_reasons()).alias("reasons"),
        bottleneck().alias("bottleneck"),
        bottleneck_reason().alias("bottleneck_reason"),
        "drift_ms_per_s",
    ).select(*columns_of(VERDICTS))


def _totals(accounting: DataFrame) -> DataFrame:
    """One row: a case, with the counts of both phases together: warm-up must not lose messages either."""
    measured = fn.when(fn.col("phase") == MEASURE, fn.col("sent")).otherwise(0)
    return (
        accounting.where(fn.col("scope") == CASE)
        .groupBy("case")
        .agg(fn.sum(measured).alias("measured"), *(fn.sum(name).alias(name) for name in _COUNTS))
    )


def _measured(messages: DataFrame) -> DataFrame:
    """One row: a case, with what only single messages can tell."""
    measured = messages.where(fn.col("phase") == MEASURE)
    return measured.groupBy("case").agg(
        ((fn.max("intended_ns") - fn.min("intended_ns")) / NS_PER_S).alias("intended_range_s"),
        ((fn.max("sent_ns") - fn.min("sent_ns")) / NS_PER_S).alias("sent_range_s"),
        fn.count_if(~fn.col("output_is_append")).alias("created"),
    )


def _clock_bounds(clocks: DataFrame, latency: DataFrame) -> DataFrame:
    """One row: a case, with how far a producer's and a consumer's clock can be apart, and its latency."""
    worst = [
        fn.max(fn.when(fn.col("agent").startswith(kind), fn.col("error_ms")))
        for kind in ("producer", "consumer")
    ]
    bounds = clocks.groupBy("case").agg((worst[0] + worst[1]).alias("clock_bound_ms"))
    of_cases = latency.where((fn.col("scope") == CASE) & (fn.col("leg") == "intended_to_received"))
    return bounds.join(of_cases.select("case", fn.col("p50").alias("median_ms")), on="case", how="inner")


def _drifts(latency: DataFrame) -> DataFrame:
    """One row: a case, with the slope of its per-second medians."""
    seconds = latency.where((fn.col("scope") == SECOND) & (fn.col("leg") == "intended_to_received"))
    slope = fn.regr_slope("p50", fn.col("second").cast("double"))
    return seconds.groupBy("case").agg(
        # Rounded: Spark adds up in any order, and the last digits of a sum depend on it.
        fn.when(fn.count("*") >= DRIFT_SECONDS, fn.round(slope, _DRIFT_DIGITS)).alias("drift_ms_per_s")
    )


def _wanted_per_s() -> Column:
    """Steps have no one rate: theirs is that of the intended times."""
    intended = fn.when(fn.col("intended_range_s") > 0, (fn.col("measured") - 1) / fn.col("intended_range_s"))
    return fn.when(fn.col("is_paced"), fn.coalesce("constant_rate_per_s", intended))


def _missed_rate() -> Column:
    """In a short run a few ms at the ends are more than 1%: the schedule must have slipped as well."""
    slipped_ms = (fn.col("sent_range_s") - fn.col("intended_range_s")) * 1000
    missed = (fn.col("sent_messages_per_s") < RATE_HELD * _wanted_per_s()) & (slipped_ms > SCHEDULE_LAG_MS)
    return fn.coalesce(missed, fn.lit(False))


def _reasons() -> list[Column]:
    """One line each; null where there is nothing to say."""
    unsettled = fn.col("sent") - fn.col("acked") - fn.col("failed")
    planned = fn.col("planned_messages")
    wanted, achieved = _wanted_per_s(), fn.col("sent_messages_per_s")
    is_short = fn.col("was_begun") & (fn.col("measured") < planned)
    return [
        fn.col("status_reason"),
        _if_any("lost_write", "acknowledged messages lost, though later ones of their partition came"),
        _if_any("unseen", "acknowledged messages not seen, and nothing after them in their partition"),
        _if_any("corrupt", "corrupt records received"),
        _if_any("failed", "messages failed to be delivered"),
        fn.when(
            fn.col("has_completions") & (unsettled > 0),
            fn.format_string("%d messages neither acknowledged nor failed", unsettled),
        ),
        fn.when(
            _missing() > 0,
            fn.format_string("%d messages, sent without delivery reports, did not arrive", _missing()),
        ),
        fn.when(is_short, fn.format_string("only %d of %d messages sent", fn.col("measured"), planned)),
        fn.when(
            fn.col("missed_rate"),
            fn.format_string(
                "missed its rate: %.0f of %.0f msg/s (%.1f%%)", achieved, wanted, achieved / wanted * 100
            ),
        ),
        _if_any("duplicate", "duplicate copies received"),
        _if_any("out_of_order", "messages received out of order"),
        _if_any("unexpected", "unexpected records received: not sent by this case"),
        _if_any("negative", "latencies below zero: kept, look at the clocks"),
        fn.when(
            fn.col("clock_bound_ms") > fn.col("median_ms"),
            fn.format_string(
                "the hosts' clocks may be %.3g ms apart, more than the median latency of %.3g ms",
                fn.col("clock_bound_ms"),
                fn.col("median_ms"),
            ),
        ),
        fn.when(
            fn.col("created") > 0,
            fn.lit("output time is the client's create time, not the broker's append time"),
        ),
        fn.when(
            ~fn.col("has_completions") & (fn.col("sent") > 0),
            fn.lit("delivery reports were off: acknowledgements and failures are not known"),
        ),
        fn.col("notes"),
    ]


def _missing() -> Column:
    """Without delivery reports nothing is known to be acknowledged; but what was sent is to arrive."""
    arrived = fn.col("failed") + fn.col("received") + fn.col("corrupt")
    is_unreported = ~fn.col("has_completions") & (fn.col("consumers") > 0)
    return fn.when(is_unreported, fn.greatest(fn.col("sent") - arrived, fn.lit(0))).otherwise(0)


def _if_any(name: str, what: str) -> Column:
    return fn.when(fn.col(name) > 0, fn.format_string(f"%d {what}", fn.col(name)))
