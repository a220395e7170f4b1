"""Table `histogram`, and the buckets that latency is computed from.

Buckets are shaped as in HdrHistogram: a value is rounded to 11 significant bits, so it
lies within 1/2048 (0.049%) of the middle of its bucket; below 2048 ns it is exact.
Zero and negative values have buckets too. Beside its count a bucket keeps the sums of
the distances from its middle, so that mean and SD come out exact.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.schema import columns_of
from streamgauge.analysis.scopes import CELL
from streamgauge.tables.results import CASE, HISTOGRAM, LEGS, MEASURE, PARTITION, SECOND, TOPIC

_NS_PER_MS = 1e6
_DOUBLE_BITS = 53
_BUCKET_BITS = 11

_TIMES: dict[str, str] = {
    "intended": "intended_ns",
    "sent": "sent_ns",
    "acked": "acked_ns",
    "output": "output_ns",
    "received": "received_ns",
}


def histogram(buckets: DataFrame) -> DataFrame:
    """The buckets of whole cases."""
    of_partitions = buckets.where(~fn.col("is_second"))
    of_cases = of_partitions.groupBy("case", "leg", "value_ns").agg(fn.sum("count").alias("count"))
    in_ms = of_cases.withColumn("value_ms", fn.col("value_ns") / _NS_PER_MS)
    return in_ms.select(*columns_of(HISTOGRAM))


def buckets_of(messages: DataFrame) -> DataFrame:
    """One row: a bucket of one leg, of a partition or of a second; the one pass for all latencies.

    Cells of both would hold few messages a bucket, so they would hardly be fewer than the messages.
    """
    legs = ", ".join(f"{number}, `{leg}`" for number, leg in enumerate(LEGS))
    measured = messages.where(fn.col("phase") == MEASURE).select(
        *CELL, *(_leg_ns(leg).alias(leg) for leg in LEGS)
    )
    # Legs are numbers until the end: shorter keys to hash and to shuffle.
    latencies = measured.select(*CELL, fn.expr(f"stack({len(LEGS)}, {legs}) as (leg_number, ns)"))
    bucketed = latencies.where(fn.col("ns").isNotNull()).withColumn("value_ns", bucket_middle(fn.col("ns")))
    keys = ["case", "leg_number", "value_ns"]
    sets = [[fn.col(name) for name in [*keys, *place]] for place in (["topic", "partition"], ["second"])]
    buckets = bucketed.groupingSets(sets, *keys, "topic", "partition", "second").agg(*_bucket_aggregates())
    names = fn.array(*(fn.lit(leg) for leg in LEGS))
    return buckets.withColumn("leg", fn.get(names, fn.col("leg_number"))).drop("leg_number")


def in_scopes(buckets: DataFrame) -> DataFrame:
    """One row: a bucket in a scope; those of a partition are also of its topic and of its case."""
    scopes = fn.when(fn.col("is_second"), fn.array(_place(SECOND, "second"))).otherwise(
        fn.array(_place(CASE), _place(TOPIC, "topic"), _place(PARTITION, "topic", "partition"))
    )
    own = [name for name in buckets.columns if name not in ("topic", "partition", "second", "is_second")]
    placed = buckets.select(*own, fn.inline(scopes))
    return placed.where((fn.col("scope") != PARTITION) | fn.col("partition").isNotNull())


def bucket_middle(value: Column) -> Column:
    """The value rounded to 11 significant bits, by Dekker's and Veltkamp's splitting.

    A logarithm would do too, but is off by one at some powers of two, and slow.
    """
    exact = value.cast("double")
    spread = exact * float(2 ** (_DOUBLE_BITS - _BUCKET_BITS) + 1)
    return (spread - (spread - exact)).cast("long")


def _bucket_aggregates() -> list[Column]:
    beside_ns = fn.col("ns") - fn.col("value_ns")
    return [
        (fn.grouping("second") == 0).alias("is_second"),
        fn.count("*").alias("count"),
        fn.sum(beside_ns).alias("beside_sum"),
        # A double adds whole numbers exactly up to 2^53; a long could overflow where clocks are broken.
        fn.sum(beside_ns.cast("double") * beside_ns).alias("beside_squares"),
        fn.min("ns").alias("min_ns"),
        fn.max("ns").alias("max_ns"),
    ]


def _place(scope: str, *names: str) -> Column:
    types = {"topic": "string", "partition": "int", "second": "int"}
    columns = (fn.col(n) if n in names else fn.lit(None).cast(kind).alias(n) for n, kind in types.items())
    return fn.struct(fn.lit(scope).alias("scope"), *columns)


def _leg_ns(leg: str) -> Column:
    begin, end = (_TIMES[name] for name in leg.split("_to_"))
    took_ns = fn.col(end) - fn.col(begin)
    # A failed delivery is reported some time too, but that is no acknowledgement.
    return fn.when(fn.col("error").isNull(), took_ns) if end == "acked_ns" else took_ns
