"""Table `accounting`: every message and every record is counted somewhere.

An acknowledged message of which no copy came, not even a damaged one, is a *lost
write* when something behind it in its partition was read, else it is *unseen*.
Where its place is not known (acks=0), its producer's order stands in for offsets.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.cells import COUNTS
from streamgauge.analysis.query import query, table_query
from streamgauge.analysis.scopes import by_scope
from streamgauge.tables.events import INTACT
from streamgauge.tables.results import ACCOUNTING, MEASURE


def accounting(cells: DataFrame, strays: DataFrame) -> DataFrame:
    """`strays` have no message, so no second and no phase: they count as measured."""
    of_strays = ", ".join(name if name in ("corrupt", "unexpected") else f"0L as {name}" for name in COUNTS)
    both = f"""(
        select `case`, topic, `partition`, second, phase, {", ".join(COUNTS)} from {{cells}}
        union all
        select `case`, topic, `partition`, cast(null as int), '{MEASURE}', {of_strays} from {{strays}})"""
    totals = [f"sum({name}) as {name}" for name in COUNTS]
    return table_query(ACCOUNTING, by_scope(both, totals, also_by=["phase"]), cells=cells, strays=strays)


def reach_of(receives: DataFrame, topics: DataFrame, block: int) -> DataFrame:
    """One row: how far a consumer read, by partition and by producer and block of what was intact there.

    A block is so many of a producer's messages.
    """
    text = f"""
    with reached as (
        select `case`, topic, `partition`, if(state = {INTACT}, producer, null) as producer, consumer,
            if(state = {INTACT}, sequence div {block}, null) as block,
            max(`offset`) as last_offset,
            max(if(state = {INTACT}, sequence, null)) as last_sequence,
            min(arrival) as first_arrival,
            count_if(state = {INTACT}) as intact,
            count_if(state <> {INTACT}) as damaged
        from {{receives}} group by 1, 2, 3, 4, 5, 6)
    select r.`case`, coalesce(topic_name, concat('topic-', r.topic)) as topic, r.topic as topic_number,
        `partition`, producer, consumer, block, last_offset, last_sequence, first_arrival, intact, damaged
    from reached r left join {{topics}} t on t.`case` = r.`case` and t.topic = r.topic"""
    return query(text, receives=receives, topics=topics)
