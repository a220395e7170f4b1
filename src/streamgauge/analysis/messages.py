"""Table `messages`: what was sent, joined with what was received.

A message is known by (case, producer, sequence). Damaged records have no header to
trust, so they are matched by their place (topic, partition, offset) in the log.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from streamgauge.analysis.clocks import on_reference
from streamgauge.analysis.planned import with_topic_names
from streamgauge.analysis.schema import columns_of
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.tables.events import BROKER_TIME_APPEND, BROKER_TIME_NONE, CORRUPT, INTACT
from streamgauge.tables.results import MEASURE, MESSAGES, WARM_UP

# The sequence comes first: sorts compare the first 8 bytes without looking at the row.
MESSAGE_KEY = ["sequence", "producer", "case"]
PLACE = ["case", "topic", "partition", "offset"]

_LAST_BROKER_MS = 9_000_000_000_000
"""Year 2255. A timestamp beyond it, or below 0, is none, and would overflow as ns."""


def messages(
    sends: DataFrame,
    receives: DataFrame,
    *,
    damage: DataFrame,
    producers: DataFrame,
    agents: DataFrame,
    topics: DataFrame,
) -> DataFrame:
    """One row a send; `producers`, `agents` and `topics` are small and go to every task."""
    copies = _first_copies(receives, agents)
    placed = _with_damage(sends, damage)
    joined = placed.join(copies, on=MESSAGE_KEY, how="left")
    described = joined.join(fn.broadcast(producers), on=["case", "producer"], how="left")
    return with_topic_names(described, topics).select(*_message_columns()).select(*columns_of(MESSAGES))


def producers_of(sends: DataFrame, warm_ups: DataFrame, agents: DataFrame) -> DataFrame:
    """One row: a producer that sent, with its warm-up, its clock and the start of its case."""
    clocks = agents.where(fn.col("kind") == "producer").select(
        "case", fn.col("number").alias("producer"), "reference_offset_ns", "anchor_ns", "drift"
    )
    firsts = sends.groupBy("case", "producer").agg(fn.min("intended_ns").alias("first_ns"))
    known = firsts.join(warm_ups, on=["case", "producer"], how="left").join(
        clocks, on=["case", "producer"], how="left"
    )
    start_ns = fn.min(on_reference(fn.col("first_ns"))).over(Window.partitionBy("case"))
    return known.select(
        "case",
        "producer",
        fn.coalesce("warm_up_messages", fn.lit(0)).alias("warm_up_messages"),
        *(fn.col(name).alias(f"producer_{name}") for name in ("reference_offset_ns", "anchor_ns", "drift")),
        start_ns.alias("start_ns"),
    )


def damage_of(receives: DataFrame) -> DataFrame:
    """One row: a place in a log at which damaged records were read, or ones that are not ours."""
    damaged = receives.where(fn.col("state") != INTACT)
    return damaged.groupBy(*PLACE).agg(
        fn.count_if(fn.col("state") == CORRUPT).alias("corrupt_records"),
        fn.count_if(fn.col("state") != CORRUPT).alias("foreign_records"),
    )


def _with_damage(sends: DataFrame, damage: DataFrame) -> DataFrame:
    """At the place of an acknowledged send, a record that is not ours is that send, damaged."""
    acked = fn.col("acked_ns").isNotNull() & fn.col("error").isNull()
    records = (fn.col("corrupt_records") + fn.col("foreign_records")).alias("corrupt_count")
    damaged = damage.select("case", "topic", "partition", fn.col("offset").alias("acked_offset"), records)
    return sends.withColumn("acked_offset", fn.when(acked, fn.col("offset"))).join(
        damaged, on=["case", "topic", "partition", "acked_offset"], how="left"
    )


def _first_copies(receives: DataFrame, agents: DataFrame) -> DataFrame:
    """One row: the first intact copy of a message, and how many there were."""
    intact = _on_reference_clock(receives.where(fn.col("state") == INTACT), agents)
    earlier = (
        Window.partitionBy("case", "consumer", "producer", "topic", "partition")
        .orderBy("arrival")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    overtaken = fn.coalesce(fn.max("sequence").over(earlier) > fn.col("sequence"), fn.lit(False))
    copies = Window.partitionBy(*MESSAGE_KEY)
    numbered = intact.withColumn("overtaken", overtaken).select(
        "*",
        fn.row_number().over(copies.orderBy("received_ns", "consumer", "arrival")).alias("copy"),
        fn.count("*").over(copies).alias("received_count"),
    )
    return numbered.where(fn.col("copy") == 1).select(
        *MESSAGE_KEY,
        fn.col("partition").alias("received_partition"),
        fn.col("offset").alias("received_offset"),
        "output_ns",
        "output_is_append",
        "received_ns",
        "received_count",
        "overtaken",
    )


def _on_reference_clock(receives: DataFrame, agents: DataFrame) -> DataFrame:
    """A broker's stamp is wall time; without the consumer's clock reading it cannot be placed."""
    clocks = agents.where(fn.col("kind") == "consumer").select(
        "case",
        fn.col("number").alias("consumer"),
        "reference_offset_ns",
        "anchor_ns",
        "drift",
        "wall_offset_ns",
    )
    stamped = (fn.col("broker_time") != BROKER_TIME_NONE) & fn.col("broker_ms").between(0, _LAST_BROKER_MS)
    stamp_ns = fn.when(stamped, fn.col("broker_ms") * NS_PER_MS) - fn.col("wall_offset_ns")
    output_ns = on_reference(stamp_ns)
    return receives.join(fn.broadcast(clocks), on=["case", "consumer"], how="left").select(
        *(name for name in receives.columns if name != "received_ns"),
        on_reference(fn.col("received_ns")).alias("received_ns"),
        output_ns.alias("output_ns"),
        fn.when(output_ns.isNotNull(), fn.col("broker_time") == BROKER_TIME_APPEND).alias("output_is_append"),
    )


def _message_columns() -> list[Column | str]:
    intended_ns, sent_ns, acked_ns = (
        on_reference(fn.col(name), "producer_") for name in ("intended_ns", "sent_ns", "acked_ns")
    )
    is_warm_up = fn.col("sequence") < fn.col("warm_up_messages")
    return [
        "case",
        fn.when(is_warm_up, fn.lit(WARM_UP)).otherwise(fn.lit(MEASURE)).alias("phase"),
        "producer",
        "sequence",
        "topic",
        fn.coalesce("partition", "received_partition").alias("partition"),
        fn.coalesce("offset", "received_offset").alias("offset"),
        "size_bytes",
        fn.floor((intended_ns - fn.col("start_ns")) / NS_PER_S).alias("second"),
        intended_ns.alias("intended_ns"),
        sent_ns.alias("sent_ns"),
        acked_ns.alias("acked_ns"),
        "output_ns",
        "output_is_append",
        "received_ns",
        fn.coalesce("received_count", fn.lit(0)).alias("received_count"),
        fn.coalesce("overtaken", fn.lit(False)).alias("out_of_order"),
        fn.coalesce("corrupt_count", fn.lit(0)).alias("corrupt_count"),
        "error",
    ]
