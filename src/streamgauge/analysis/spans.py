"""First, last, count and bytes of each of a message's times: what ranges and throughput are made of."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.scopes import CELL
from streamgauge.tables.results import MEASURE

TIMES = ("sent", "acked", "output", "received")


def own_time(name: str) -> Column:
    """A time of a message in ns; a delivery that failed was not acknowledged."""
    ns = fn.col(f"{name}_ns")
    return fn.when(fn.col("error").isNull(), ns) if name == "acked" else ns


def spans_of(messages: DataFrame) -> DataFrame:
    """One row: the measured messages of one partition and second, by intended time."""
    measured = messages.where(fn.col("phase") == MEASURE)
    aggregates = [column for name in TIMES for column in _span(name)]
    return measured.groupBy(*CELL).agg(*aggregates)


def merged_spans() -> list[Column]:
    """The aggregates that merge spans into the span of a scope."""
    return [
        column
        for name in TIMES
        for column in (
            fn.min(f"{name}_first_ns").alias(f"{name}_first_ns"),
            fn.max(f"{name}_last_ns").alias(f"{name}_last_ns"),
            fn.sum(f"{name}_count").alias(f"{name}_count"),
            fn.sum(f"{name}_bytes").alias(f"{name}_bytes"),
        )
    ]


def _span(name: str) -> list[Column]:
    ns = own_time(name)
    return [
        fn.min(ns).alias(f"{name}_first_ns"),
        fn.max(ns).alias(f"{name}_last_ns"),
        fn.count(ns).alias(f"{name}_count"),
        fn.sum(fn.when(ns.isNotNull(), fn.col("size_bytes"))).alias(f"{name}_bytes"),
    ]
