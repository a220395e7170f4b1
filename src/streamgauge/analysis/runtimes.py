"""Table `runtimes`: how long messages took to go through a partition, and through several side by side.

A partition's own time runs from its first message sent to its last received. Partitions run in parallel:
their times add up to the runtime of a topic or a case, and their mean rate times their number is its rate.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.schema import columns_of
from streamgauge.analysis.scopes import by_scope
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, PARTITION, RUNTIMES, TOPIC

_BYTES_PER_KIB = 1024


def runtimes(spans: DataFrame) -> DataFrame:
    """One row: a scope through which something came."""
    own = (
        spans.groupBy("case", "topic", "partition")
        .agg(
            fn.min("sent_first_ns").alias("first_ns"),
            fn.max("received_last_ns").alias("last_ns"),
            fn.sum("received_count").alias("messages"),
            fn.sum("received_bytes").alias("bytes"),
        )
        .where(fn.col("last_ns").isNotNull())
        .withColumn("second", fn.lit(None).cast("int"))
    )
    aggregates = [
        fn.count("*").alias("partitions"),
        fn.sum("messages").alias("messages"),
        fn.sum("bytes").alias("bytes"),
        (fn.sum(fn.col("last_ns") - fn.col("first_ns")) / NS_PER_S).alias("runtime_s"),
        ((fn.max("last_ns") - fn.min("first_ns")) / NS_PER_S).alias("wall_s"),
    ]
    scopes = by_scope(own, aggregates, scopes=[CASE, TOPIC, PARTITION])
    return scopes.select(
        "*",
        _per_s(fn.col("messages")).alias("messages_per_s"),
        _per_s(fn.col("bytes") / _BYTES_PER_KIB).alias("kib_per_s"),
    ).select(*columns_of(RUNTIMES))


def _per_s(amount: Column) -> Column:
    return fn.when(fn.col("runtime_s") > 0, amount * fn.col("partitions") / fn.col("runtime_s"))
