"""Records that belong to no message of their case: unexpected ones, and damage at no known place."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from streamgauge.analysis.query import query, quoted
from streamgauge.tables.events import INTACT

STRAYS = pa.schema(
    [
        ("case", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("corrupt", pa.int64()),
        ("unexpected", pa.int64()),
    ]
)


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
    cases = ", ".join(map(quoted, uneven_cases)) or "null"
    text = f"""
    with unsent as (
        select `case`, topic, `partition`, 0L as corrupt, count(*) as unexpected
        from {{receives}} r
        left anti join {{sends}} s
            on s.sequence = r.sequence and s.producer = r.producer and s.`case` = r.`case`
                and s.`case` in ({cases})
        where `case` in ({cases}) and state = {INTACT}
        group by `case`, topic, `partition`),
    damaged as (
        select d.`case`, coalesce(topic_name, concat('topic-', d.topic)) as topic, `partition`, `offset`,
            corrupt_records as corrupt, foreign_records as unexpected
        from {{damage}} d left join {{topics}} t on t.`case` = d.`case` and t.topic = d.topic),
    lone as (
        select u.`case`, coalesce(topic_name, concat('topic-', u.topic)) as topic, `partition`,
            corrupt, unexpected
        from unsent u left join {{topics}} t on t.`case` = u.`case` and t.topic = u.topic
        union all
        select d.`case`, d.topic, d.`partition`, corrupt, unexpected
        from damaged d
        left anti join (select * from {{messages}} where corrupt_count > 0) m
            on m.`case` = d.`case` and m.topic = d.topic
                and m.`partition` = d.`partition` and m.`offset` = d.`offset`)
    select `case`, topic, `partition`, sum(corrupt) as corrupt, sum(unexpected) as unexpected
    from lone group by `case`, topic, `partition`"""
    return query(text, sends=sends, receives=receives, messages=messages, damage=damage, topics=topics)
