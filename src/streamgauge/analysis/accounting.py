"""Table `accounting`: every message and every record is counted somewhere.

An acknowledged message of which no copy came, not even a damaged one, is a *lost
write* when something behind it in its partition was read, else it is *unseen*.
Where its place is not known (acks=0), its producer's order stands in for offsets.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.planned import with_topic_names
from streamgauge.analysis.schema import columns_of
from streamgauge.analysis.scopes import CELL, by_scope
from streamgauge.tables.events import INTACT
from streamgauge.tables.results import ACCOUNTING, MEASURE

_COUNTS = (
    "sent",
    "acked",
    "failed",
    "received",
    "lost_write",
    "unseen",
    "duplicate",
    "out_of_order",
    "corrupt",
    "unexpected",
)


def accounting(
    messages: DataFrame, receives: DataFrame, strays: DataFrame, topics: DataFrame, cases: DataFrame
) -> DataFrame:
    """`strays` have no message, so no second and no phase: they count as measured."""
    cells = _message_cells(_with_reach(messages, receives, topics, cases))
    stray_cells = strays.select(
        "case",
        "topic",
        "partition",
        fn.lit(None).cast("int").alias("second"),
        fn.lit(MEASURE).alias("phase"),
        *(fn.lit(0).cast("long").alias(name) for name in _COUNTS if name not in ("corrupt", "unexpected")),
        "corrupt",
        "unexpected",
    )
    totals = [fn.sum(name).alias(name) for name in _COUNTS]
    return by_scope(cells.unionByName(stray_cells), totals, also_by=["phase"]).select(*columns_of(ACCOUNTING))


def reach_of(receives: DataFrame) -> DataFrame:
    """One row: how far a topic was read, by partition and by producer of what was intact there."""
    is_intact = fn.col("state") == INTACT
    reached = receives.select(
        "case",
        "topic",
        "partition",
        fn.when(is_intact, fn.col("producer")).alias("producer"),
        fn.when(is_intact, fn.col("sequence")).alias("sequence"),
        "offset",
    )
    return reached.groupBy("case", "topic", "partition", "producer").agg(
        fn.max("offset").alias("last_offset"), fn.max("sequence").alias("last_sequence")
    )


def _with_reach(messages: DataFrame, receives: DataFrame, topics: DataFrame, cases: DataFrame) -> DataFrame:
    """Messages, each with the last offset and sequence read where it should have been."""
    named = with_topic_names(reach_of(receives), topics)
    last_offsets = named.groupBy("case", "topic", "partition").agg(fn.max("last_offset").alias("last_offset"))
    last_sequences = (
        named.where(fn.col("producer").isNotNull())
        .groupBy("case", "topic", "producer")
        .agg(fn.max("last_sequence").alias("last_sequence"))
    )
    return (
        messages.join(fn.broadcast(last_offsets), on=["case", "topic", "partition"], how="left")
        .join(fn.broadcast(last_sequences), on=["case", "topic", "producer"], how="left")
        .join(fn.broadcast(cases.select("case", "consumers")), on="case", how="left")
    )


def _message_cells(reached: DataFrame) -> DataFrame:
    is_acked = fn.col("acked_ns").isNotNull() & fn.col("error").isNull()
    is_missing = (
        is_acked
        & (fn.col("received_count") == 0)
        & (fn.col("corrupt_count") == 0)
        & (fn.col("consumers") > 0)
    )
    is_overtaken = fn.when(fn.col("offset").isNotNull(), fn.col("last_offset") > fn.col("offset")).otherwise(
        fn.col("last_sequence") > fn.col("sequence")
    )
    passed = fn.coalesce(is_overtaken, fn.lit(False))
    counts: list[Column] = [
        fn.count("*").alias("sent"),
        fn.count_if(is_acked).alias("acked"),
        fn.count_if(fn.col("error").isNotNull()).alias("failed"),
        fn.count_if(fn.col("received_count") > 0).alias("received"),
        fn.count_if(is_missing & passed).alias("lost_write"),
        fn.count_if(is_missing & ~passed).alias("unseen"),
        fn.sum(fn.greatest(fn.col("received_count") - 1, fn.lit(0))).alias("duplicate"),
        fn.count_if(fn.col("out_of_order")).alias("out_of_order"),
        fn.sum(fn.col("corrupt_count").cast("long")).alias("corrupt"),
        fn.lit(0).cast("long").alias("unexpected"),
    ]
    return reached.groupBy(*CELL, "phase").agg(*counts)
