"""Table `throughput`: messages and bytes a second.

n events that span a range have n − 1 gaps in it, so their rate is (n − 1) / range; it is
null where there is no range. In the scope of one second a message is counted in the
second of its *own* time (sent, acked, received), not of its intended time: otherwise a
backlog would look like a second of high throughput.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.ranges import range_s
from streamgauge.analysis.schema import columns_of
from streamgauge.analysis.scopes import by_scope
from streamgauge.analysis.spans import merged_spans, own_time
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, MEASURE, PARTITION, SECOND, THROUGHPUT, TOPIC

_EVENTS = ("sent", "acked", "received")


def throughput(spans: DataFrame, messages: DataFrame, starts: DataFrame) -> DataFrame:
    """One row: a scope; `starts` has the start of each case."""
    scopes = by_scope(spans, merged_spans(), scopes=[CASE, TOPIC, PARTITION])
    rates = [rate.alias(name) for event in _EVENTS for name, rate in _rates(event).items()]
    over_ranges = scopes.select("*", *rates).select(*columns_of(THROUGHPUT))
    return over_ranges.unionByName(_by_own_second(messages, starts))


def _rates(event: str) -> dict[str, Column]:
    count, size, seconds = fn.col(f"{event}_count"), fn.col(f"{event}_bytes"), range_s(event)
    has_range = (count > 1) & (seconds > 0)
    return {
        f"{event}_messages_per_s": fn.when(has_range, (count - 1) / seconds),
        f"{event}_bytes_per_s": fn.when(has_range, size * (count - 1) / count / seconds),
    }


def _by_own_second(messages: DataFrame, starts: DataFrame) -> DataFrame:
    """A second without an event of one kind in it has a rate of 0 of that kind."""
    measured = messages.where(fn.col("phase") == MEASURE).join(fn.broadcast(starts), on="case", how="left")
    times = ", ".join(f"'{event}', {event}_second" for event in _EVENTS)
    events = measured.select(
        "case", "size_bytes", *(_second(event).alias(f"{event}_second") for event in _EVENTS)
    ).select("case", "size_bytes", fn.expr(f"stack({len(_EVENTS)}, {times}) as (event, second)"))
    counts = [column for event in _EVENTS for column in _counts(event)]
    seconds = events.where(fn.col("second").isNotNull()).groupBy("case", "second").agg(*counts)
    return seconds.select(
        "*",
        fn.lit(SECOND).alias("scope"),
        fn.lit(None).alias("topic"),
        fn.lit(None).alias("partition"),
    ).select(*columns_of(THROUGHPUT))


def _second(event: str) -> Column:
    return fn.floor((own_time(event) - fn.col("start_ns")) / NS_PER_S)


def _counts(event: str) -> list[Column]:
    is_event = fn.col("event") == event
    return [
        fn.count_if(is_event).cast("double").alias(f"{event}_messages_per_s"),
        fn.sum(fn.when(is_event, fn.col("size_bytes")).otherwise(0)).alias(f"{event}_bytes_per_s"),
    ]
