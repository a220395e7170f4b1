"""Scopes: the same aggregates for the whole case, each topic, each partition and each second.

Every table with scopes first aggregates messages to *cells*, one row per case, topic,
partition and second, and then merges cells: messages are read once, not once a scope.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.tables.results import CASE, PARTITION, SECOND, TOPIC

CELL = ("case", "topic", "partition", "second")
SCOPE = ("case", "scope", "topic", "partition", "second")


def by_scope(
    cells: DataFrame,
    aggregates: Sequence[Column],
    also_by: Sequence[str] = (),
    scopes: Sequence[str] = (CASE, TOPIC, PARTITION, SECOND),
) -> DataFrame:
    """Merge cells; a cell whose partition or second is unknown has no row in that scope."""
    keys = ["case", *also_by]
    members = {CASE: [], TOPIC: ["topic"], PARTITION: ["topic", "partition"], SECOND: ["second"]}
    sets = [[fn.col(name) for name in [*keys, *members[scope]]] for scope in scopes]
    merged = cells.groupingSets(sets, *keys, "topic", "partition", "second").agg(
        _scope().alias("scope"), *aggregates
    )
    unplaced = (fn.col("scope") == PARTITION) & fn.col("partition").isNull()
    untimed = (fn.col("scope") == SECOND) & fn.col("second").isNull()
    return merged.where(~(unplaced | untimed))


def _scope() -> Column:
    """`grouping` is 0 for a column that the row's grouping set names."""
    return (
        fn.when(fn.grouping("second") == 0, fn.lit(SECOND))
        .when(fn.grouping("partition") == 0, fn.lit(PARTITION))
        .when(fn.grouping("topic") == 0, fn.lit(TOPIC))
        .otherwise(fn.lit(CASE))
    )
