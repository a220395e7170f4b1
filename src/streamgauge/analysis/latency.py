"""Table `latency`: statistics of each leg in each scope, from the buckets.

Count, mean, SD, min and max are exact. Percentiles interpolate between the middles of
buckets, as they would between values.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.histogram import in_scopes
from streamgauge.analysis.schema import columns_of
from streamgauge.analysis.scopes import SCOPE
from streamgauge.tables.results import LATENCY, PERCENTILES

_NS_PER_MS = 1e6
_WHOLE = "decimal(38,0)"


def latency(buckets: DataFrame) -> DataFrame:
    """One row: a leg in a scope."""
    middle, count = fn.col("value_ns").cast(_WHOLE), fn.col("count")
    beside_sum, beside_squares = fn.col("beside_sum").cast(_WHOLE), fn.col("beside_squares").cast(_WHOLE)
    # Buckets are already as few as they get: adding them up before the shuffle would not pay.
    scoped = in_scopes(buckets).repartition(*SCOPE, "leg")
    sums = scoped.groupBy(*SCOPE, "leg").agg(
        fn.sum("count").alias("count"),
        fn.sum(fn.when(fn.col("value_ns") < 0, fn.col("count")).otherwise(0)).alias("negative_count"),
        fn.sum(_times(middle, count) + beside_sum).alias("sum_ns"),
        fn.try_sum(_square_sum(middle, count, beside_sum, beside_squares)).alias("squares_ns2"),
        fn.min("min_ns").alias("min_ns"),
        fn.max("max_ns").alias("max_ns"),
        fn.percentile("value_ns", list(PERCENTILES.values()), fn.col("count")).alias("percentiles_ns"),
    )
    in_ms = sums.select(
        *SCOPE,
        "leg",
        "count",
        "negative_count",
        (fn.col("sum_ns").cast("double") / fn.col("count") / _NS_PER_MS).alias("mean"),
        # Picoseconds: what lies beyond depends on the order in which doubles were added.
        fn.round(fn.sqrt(_variance_ns2()) / _NS_PER_MS, 9).alias("sd"),
        (fn.col("min_ns") / _NS_PER_MS).alias("min"),
        *(_percentile_ms(place).alias(name) for place, name in enumerate(PERCENTILES)),
        (fn.col("max_ns") / _NS_PER_MS).alias("max"),
    )
    return in_ms.select(*columns_of(LATENCY))


def _percentile_ms(place: int) -> Column:
    """The middle of the outermost bucket may lie outside of what was measured."""
    middle_ns = fn.col("percentiles_ns")[place]
    return fn.least(fn.greatest(middle_ns, fn.col("min_ns")), fn.col("max_ns")) / _NS_PER_MS


def _square_sum(middle: Column, count: Column, beside_sum: Column, beside_squares: Column) -> Column:
    """Σ(middle + beside)² of one bucket."""
    return _plus(_times(middle, middle, count), _times(fn.lit(2), middle, beside_sum), beside_squares)


def _variance_ns2() -> Column:
    """In whole numbers around the whole part of the mean: nothing cancels, no order matters."""
    count, total = fn.col("count").cast(_WHOLE), fn.col("sum_ns")
    mean = fn.floor(total / count).cast(_WHOLE)
    rest = total - _times(mean, count)
    around_mean = _plus(
        fn.col("squares_ns2"), _times(fn.lit(-1), count, mean, mean), _times(fn.lit(-2), mean, rest)
    )
    centred = around_mean.cast("double") - rest.cast("double") * rest.cast("double") / fn.col("count")
    return fn.when(fn.col("count") > 1, fn.greatest(centred, fn.lit(0.0)) / (fn.col("count") - 1))


def _times(*factors: Column) -> Column:
    """Null where 38 digits do not hold the product: a senseless time must not end the analysis."""
    return reduce(lambda left, right: fn.try_multiply(left.cast(_WHOLE), right.cast(_WHOLE)), factors).cast(
        _WHOLE
    )


def _plus(*terms: Column) -> Column:
    return reduce(lambda left, right: fn.try_add(left.cast(_WHOLE), right.cast(_WHOLE)), terms).cast(_WHOLE)
