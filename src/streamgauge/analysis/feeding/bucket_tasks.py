"""Latencies of many buckets: Spark brings the buckets of a scope together, tasks compute it."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.latency import SCOPE_OF_LEG, histogram, latency
from streamgauge.analysis.schema import spark_schema
from streamgauge.tables.results import CASE, LATENCY


def latency_by_tasks(buckets: DataFrame) -> tuple[pa.Table, pa.Table]:
    """Tables `latency` and `histogram`."""
    together = buckets.select(*BUCKETS.names).repartition(*SCOPE_OF_LEG)
    latencies = together.mapInArrow(_latencies, spark_schema(LATENCY)).toArrow()
    of_cases = buckets.where(fn.col("scope") == CASE).select("case", "scope", "leg", "value_ns", "count")
    return latencies, histogram(of_cases.toArrow())


def _latencies(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    own = list(batches)
    if own:
        yield from latency(pa.Table.from_batches(own)).to_batches()
