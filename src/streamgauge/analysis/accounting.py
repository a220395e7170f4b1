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


def reach_of(receives: DataFrame, topics: DataFrame) -> DataFrame:
    """One row: how far a topic was read, by partition and by producer of what was intact there."""
    text = f"""
    with reached as (
        select `case`, topic, `partition`, if(state = {INTACT}, producer, null) as producer,
            max(`offset`) as last_offset,
            max(if(state = {INTACT}, sequence, null)) as last_sequence,
            count_if(state = {INTACT}) as intact,
            count_if(state <> {INTACT}) as damaged
        from {{receives}} group by 1, 2, 3, 4)
    select r.`case`, coalesce(topic_name, concat('topic-', r.topic)) as topic, `partition`, producer,
        last_offset, last_sequence, intact, damaged
    from reached r left join {{topics}} t on t.`case` = r.`case` and t.topic = r.topic"""
    return query(text, receives=receives, topics=topics)
