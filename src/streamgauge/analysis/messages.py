"""Table `messages`: what was sent, joined with what was received.

A message is known by (case, producer, sequence). Damaged records have no header to
trust, so they are matched by their place (topic, partition, offset) in the log.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from streamgauge.analysis.clocks import on_reference
from streamgauge.analysis.query import query, table_query
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.tables.events import BROKER_TIME_APPEND, BROKER_TIME_NONE, CORRUPT, INTACT
from streamgauge.tables.results import MEASURE, MESSAGES, WARM_UP

DAMAGE = pa.schema(
    [
        ("case", pa.string()),
        ("topic", pa.int32()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("corrupt_records", pa.int64()),
        ("foreign_records", pa.int64()),
    ]
)
LAST_BROKER_MS = 9_000_000_000_000
"""Year 2255. A timestamp beyond it, or below 0, is none, and would overflow as ns."""

# A broker's stamp is wall time; without the consumer's clock reading it cannot be placed.
_STAMP_NS = f"""if(broker_time <> {BROKER_TIME_NONE} and broker_ms between 0 and {LAST_BROKER_MS},
    broker_ms * {NS_PER_MS}, null) - wall_offset_ns"""

# The sequence comes first in a message's key: sorts compare the first 8 bytes without looking at the row.
_FIRST_COPIES = f"""
    select * from (
        select *,
            row_number() over (
                partition by sequence, producer, `case` order by received_ns, consumer, arrival) as copy,
            count(*) over (partition by sequence, producer, `case`) as received_count
        from (
            select sequence, producer, `case`, consumer, arrival, `partition`, `offset`,
                received_ns, output_ns,
                if(output_ns is not null, broker_time = {BROKER_TIME_APPEND}, null) as output_is_append,
                max(sequence) over (
                    partition by `case`, consumer, producer, topic, `partition` order by arrival
                    rows between unbounded preceding and 1 preceding) > sequence as overtaken
            from (
                select r.* except (received_ns), {on_reference("received_ns")} as received_ns,
                    {on_reference(f"({_STAMP_NS})")} as output_ns
                from {{receives}} r
                left join {{agents}} a
                    on a.`case` = r.`case` and a.number = r.consumer and a.kind = 'consumer'
                where state = {INTACT})))
    where copy = 1"""


def messages(
    sends: DataFrame,
    receives: DataFrame,
    *,
    damage: DataFrame,
    producers: DataFrame,
    agents: DataFrame,
    topics: DataFrame,
) -> DataFrame:
    """One row a send; all but sends and receives are small and go to every task."""
    intended_ns, sent_ns, acked_ns = (
        on_reference(f"s.{name}", "producer_") for name in ("intended_ns", "sent_ns", "acked_ns")
    )
    # At the place of an acknowledged send, a record that is not ours is that send, damaged.
    text = f"""
    select s.`case`, if(s.sequence < warm_up_messages, '{WARM_UP}', '{MEASURE}') as phase,
        s.producer, s.sequence, coalesce(topic_name, concat('topic-', s.topic)) as topic,
        coalesce(s.`partition`, n.`partition`) as `partition`, coalesce(s.`offset`, n.`offset`) as `offset`,
        size_bytes, floor(({intended_ns} - start_ns) / {NS_PER_S}) as second,
        {intended_ns} as intended_ns, {sent_ns} as sent_ns, {acked_ns} as acked_ns,
        output_ns, output_is_append, received_ns,
        coalesce(received_count, 0) as received_count, coalesce(overtaken, false) as out_of_order,
        coalesce(corrupt_records + foreign_records, 0) as corrupt_count, error
    from {{sends}} s
    left join {{damage}} d
        on d.`case` = s.`case` and d.topic = s.topic and d.`partition` = s.`partition`
        and d.`offset` = if(acked_ns is not null and error is null, s.`offset`, null)
    left join ({_FIRST_COPIES}) n
        on n.sequence = s.sequence and n.producer = s.producer and n.`case` = s.`case`
    left join {{producers}} p on p.`case` = s.`case` and p.producer = s.producer
    left join {{topics}} t on t.`case` = s.`case` and t.topic = s.topic"""
    return table_query(
        MESSAGES,
        text,
        sends=sends,
        receives=receives,
        damage=damage,
        producers=producers,
        agents=agents,
        topics=topics,
    )


def producers_of(sends: DataFrame, warm_ups: DataFrame, agents: DataFrame) -> DataFrame:
    """One row: a producer that sent, with its warm-up, its clock and the start of its case."""
    text = f"""
    with firsts as (
        select `case`, producer, min(intended_ns) as first_ns from {{sends}} group by `case`, producer)
    select f.`case`, f.producer, coalesce(warm_up_messages, 0) as warm_up_messages,
        reference_offset_ns as producer_reference_offset_ns, anchor_ns as producer_anchor_ns,
        drift as producer_drift,
        min({on_reference("first_ns")}) over (partition by f.`case`) as start_ns
    from firsts f
    left join {{warm_ups}} w on w.`case` = f.`case` and w.producer = f.producer
    left join {{agents}} a on a.`case` = f.`case` and a.number = f.producer and a.kind = 'producer'"""
    return query(text, sends=sends, warm_ups=warm_ups, agents=agents)


def damage_of(receives: DataFrame) -> DataFrame:
    """One row: a place in a log at which damaged records were read, or ones that are not ours."""
    text = f"""
    select `case`, topic, `partition`, `offset`, count_if(state = {CORRUPT}) as corrupt_records,
        count_if(state <> {CORRUPT}) as foreign_records
    from {{receives}} where state <> {INTACT} group by `case`, topic, `partition`, `offset`"""
    return query(text, receives=receives)
