"""Table `ranges`: last minus first of each of the four times in each scope."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.schema import columns_of
from streamgauge.analysis.scopes import by_scope
from streamgauge.analysis.spans import merged_spans
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import RANGES

_NAMES = {"sent": "sent_s", "acked": "published_s", "output": "output_s", "received": "consumed_s"}


def ranges(spans: DataFrame) -> DataFrame:
    """One row: a scope."""
    scopes = by_scope(spans, merged_spans())
    return scopes.select("*", *(range_s(time).alias(name) for time, name in _NAMES.items())).select(
        *columns_of(RANGES)
    )


def range_s(time: str) -> Column:
    return (fn.col(f"{time}_last_ns") - fn.col(f"{time}_first_ns")) / NS_PER_S
