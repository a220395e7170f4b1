"""Records that belong to no message of their case: unexpected ones, and damage at no known place."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.analysis.messages import MESSAGE_KEY, PLACE
from streamgauge.analysis.planned import with_topic_names
from streamgauge.tables.events import INTACT


def strays(
    sends: DataFrame,
    receives: DataFrame,
    *,
    messages: DataFrame,
    damage: DataFrame,
    topics: DataFrame,
    uneven_cases: Sequence[str],
) -> DataFrame:
    """One row: a partition of a case, with its strays; only `uneven_cases` can have intact ones."""
    intact = _intact_strays(sends, receives, uneven_cases)
    damaged = with_topic_names(damage, topics).join(_damaged_places(messages), on=PLACE, how="left_anti")
    both = with_topic_names(intact, topics).unionByName(
        damaged.select(
            "case",
            "topic",
            "partition",
            fn.col("corrupt_records").alias("corrupt"),
            fn.col("foreign_records").alias("unexpected"),
        )
    )
    return both.groupBy("case", "topic", "partition").agg(
        fn.sum("corrupt").alias("corrupt"), fn.sum("unexpected").alias("unexpected")
    )


def intact_counts(receives: DataFrame) -> DataFrame:
    """One row: a case, with its intact records."""
    return receives.where(fn.col("state") == INTACT).groupBy("case").agg(fn.count("*").alias("intact"))


def matched_counts(messages: DataFrame) -> DataFrame:
    """One row: a case, with those intact records that are copies of a message it sent."""
    return messages.groupBy("case").agg(fn.sum("received_count").alias("intact"))


def _intact_strays(sends: DataFrame, receives: DataFrame, cases: Sequence[str]) -> DataFrame:
    intact = receives.where(fn.col("case").isin(*cases) & (fn.col("state") == INTACT))
    sent = sends.where(fn.col("case").isin(*cases)).select(*MESSAGE_KEY)
    unsent = intact.join(sent, on=MESSAGE_KEY, how="left_anti")
    return unsent.groupBy("case", "topic", "partition").agg(
        fn.lit(0).cast("long").alias("corrupt"), fn.count("*").alias("unexpected")
    )


def _damaged_places(messages: DataFrame) -> DataFrame:
    return messages.where(fn.col("corrupt_count") > 0).select(*PLACE)
