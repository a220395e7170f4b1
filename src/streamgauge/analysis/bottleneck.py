"""What was the limit of a case: rules over its figures, each with the figures in its reason.

Nothing is said of network and disk: what they could carry is not known from samples.
The first rule that holds is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.tables.results import CASE, SECOND

SCHEDULE_LAG_MS = 10.0
"""A schedule is held when its lag's p99 is below this, or below ten intervals of a slow one …"""
SCHEDULE_LAG_INTERVALS = 10.0
SCHEDULE_LAG_MOST_MS = 100.0
"""… which may not be more than this."""

PROCESS_BUSY_CORES = 0.85
"""A client's sending or receiving is one thread: near one core it cannot do more."""

BROKER_BUSY_SHARE = 0.85
"""Of all cores of its host: a broker has many threads."""

MACHINE_BUSY_SHARE = 0.90

SLOW_ACK_MS = 100.0
"""A median as long as this is time spent in a full queue, not on the way."""

CONSUMER_BEHIND = 0.99
"""Share of the sent rate below which consumers do not keep up."""


class _Rule(NamedTuple):
    holds: Column
    limit: str
    reason: Column


def figures_of(latency: DataFrame, throughput: DataFrame, cpu: DataFrame, resources: DataFrame) -> DataFrame:
    """One row: a case, with the figures that the rules look at; null where there are none."""
    return (
        _latencies(latency)
        .join(_rates(throughput), on="case", how="full")
        .join(_processes(cpu), on="case", how="full")
        .join(_hosts(resources, throughput), on="case", how="full")
    )


def bottleneck() -> Column:
    named = fn.lit("none")
    for rule in reversed(list(_rules())):
        named = fn.when(rule.holds, fn.lit(rule.limit)).otherwise(named)
    return named


def bottleneck_reason() -> Column:
    reason = (
        fn.when(~_is_measured(), fn.lit("nothing was measured"))
        .when(fn.col("is_paced"), fn.lit("the load was held"))
        .when(
            fn.coalesce("producer_cores", "machine_share").isNull(), fn.lit("not known without CPU figures")
        )
        .otherwise(fn.lit("nothing was saturated"))
    )
    for rule in reversed(list(_rules())):
        reason = fn.when(rule.holds, rule.reason).otherwise(reason)
    return fn.concat_ws(": ", reason, fn.when(_is_measured(), _figures()))


def _rules() -> Iterator[_Rule]:
    """A held schedule can still be limited behind the producer, an unheld one is limited somewhere."""
    is_unheld = fn.col("is_paced") & (_above("lag_ms", _lag_limit_ms()) | fn.col("missed_rate"))
    is_pressed = is_unheld | (~fn.col("is_paced") & _is_measured())
    is_behind = _above("sent_messages_per_s", fn.col("received_messages_per_s") / CONSUMER_BEHIND)
    is_broker_busy = _above("broker_cores", fn.col("broker_host_cores") * BROKER_BUSY_SHARE)
    yield _Rule(
        is_pressed & _above("producer_cores", fn.lit(PROCESS_BUSY_CORES)),
        "client_cpu",
        fn.lit("a producer had no CPU left"),
    )
    yield _Rule(
        is_behind & _above("consumer_cores", fn.lit(PROCESS_BUSY_CORES)),
        "client_cpu",
        fn.lit("a consumer had no CPU left and fell behind"),
    )
    yield _Rule(
        _above("machine_share", fn.lit(MACHINE_BUSY_SHARE)),
        "machine_cpu",
        fn.lit("a machine had no CPU left"),
    )
    yield _Rule(is_pressed & is_broker_busy, "broker", fn.lit("a broker had no CPU left"))
    yield _Rule(
        is_pressed & _above("ack_ms", fn.lit(SLOW_ACK_MS)),
        "broker",
        fn.lit("acknowledgements came slowly while clients had CPU left"),
    )
    yield _Rule(is_unheld, "generator", fn.lit("the schedule was not held, and nothing else was busy"))


def _above(name: str, limit: Column) -> Column:
    """False where a figure is missing: a rule needs figures to hold."""
    return fn.coalesce(fn.col(name) > limit, fn.lit(False))


def _is_measured() -> Column:
    return fn.col("measured") > 0


def _lag_limit_ms() -> Column:
    """Steps have no one interval, so they get no allowance for slow schedules."""
    interval_ms = fn.lit(1000.0) * fn.col("producers") / fn.col("constant_rate_per_s")
    allowed_ms = fn.coalesce(SCHEDULE_LAG_INTERVALS * interval_ms, fn.lit(SCHEDULE_LAG_MS))
    return fn.greatest(fn.lit(SCHEDULE_LAG_MS), fn.least(allowed_ms, fn.lit(SCHEDULE_LAG_MOST_MS)))


def _figures() -> Column:
    """All figures there are, whichever rule held."""
    lag = fn.format_string("schedule lag p99 %.3g ms", fn.col("lag_ms"))
    ack = fn.format_string("ack p50 %.3g ms", fn.col("ack_ms"))
    host = fn.format_string("broker %.2f of %d cores", fn.col("broker_cores"), fn.col("broker_host_cores"))
    machine = fn.format_string("machine %.0f%% busy", fn.col("machine_share") * 100)
    return fn.concat_ws(
        ", ",
        fn.when(fn.col("is_paced") & fn.col("lag_ms").isNotNull(), lag),
        fn.when(fn.col("ack_ms").isNotNull(), ack),
        *(
            fn.when(
                fn.col(f"{kind}_cores").isNotNull(),
                fn.format_string(f"busiest {kind} %.2f cores", fn.col(f"{kind}_cores")),
            )
            for kind in ("producer", "consumer")
        ),
        fn.when(fn.col("broker_cores").isNotNull() & fn.col("broker_host_cores").isNotNull(), host),
        fn.when(fn.col("machine_share").isNotNull(), machine),
    )


def _latencies(latency: DataFrame) -> DataFrame:
    """Output times are whole ms, cut off: their legs are below zero with the best of clocks."""
    of_cases = latency.where(fn.col("scope") == CASE)
    has_output = fn.col("leg").contains("output")
    return of_cases.groupBy("case").agg(
        fn.max(fn.when(fn.col("leg") == "intended_to_sent", fn.col("p99"))).alias("lag_ms"),
        fn.max(fn.when(fn.col("leg") == "sent_to_acked", fn.col("p50"))).alias("ack_ms"),
        fn.sum(fn.when(~has_output, fn.col("negative_count"))).alias("negative"),
    )


def _rates(throughput: DataFrame) -> DataFrame:
    of_cases = throughput.where(fn.col("scope") == CASE)
    return of_cases.select("case", "sent_messages_per_s", "received_messages_per_s")


def _processes(cpu: DataFrame) -> DataFrame:
    return cpu.groupBy("case").agg(
        *(
            fn.max(fn.when(fn.col("kind") == kind, fn.col("busiest_cores"))).alias(f"{kind}_cores")
            for kind in ("producer", "consumer", "broker")
        )
    )


def _hosts(resources: DataFrame, throughput: DataFrame) -> DataFrame:
    """The busiest machine while messages were sent, and the cores of the brokers' hosts."""
    sending = throughput.where((fn.col("scope") == SECOND) & (fn.col("sent_messages_per_s") > 0))
    spans = sending.groupBy("case").agg(fn.min("second").alias("first"), fn.max("second").alias("last"))
    during = resources.join(fn.broadcast(spans), on="case", how="inner").where(
        fn.col("at_s").between(fn.col("first"), fn.col("last") + 1)
    )
    share = fn.when(fn.col("kind") == "machine", fn.col("cpu_cores") / fn.col("cores"))
    hosts = during.groupBy("case", "host").agg(
        fn.avg(share).alias("share"),
        fn.max(fn.when(fn.col("kind") == "broker", fn.col("cores"))).alias("cores"),
    )
    return hosts.groupBy("case").agg(
        fn.max("share").alias("machine_share"), fn.max("cores").alias("broker_host_cores")
    )
