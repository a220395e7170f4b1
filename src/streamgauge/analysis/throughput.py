"""Table `throughput`: messages and bytes a second.

n events that span a range have n − 1 gaps in it, so their rate is (n − 1) / range; it is
null where there is no range. In the scope of one second a message is counted in the
second of its *own* time (sent, acked, received), not of its intended time: otherwise a
backlog would look like a second of high throughput.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.cells import OWN_SECONDS, measured, merged_spans
from streamgauge.analysis.query import table_query
from streamgauge.analysis.ranges import range_s
from streamgauge.analysis.scopes import by_scope
from streamgauge.tables.results import CASE, PARTITION, SECOND, THROUGHPUT, TOPIC

_RATES = [f"{event}_{unit}_per_s" for event in OWN_SECONDS for unit in ("messages", "bytes")]


def throughput(cells: DataFrame) -> DataFrame:
    """One row: a scope."""
    scopes = by_scope(measured("{cells}"), merged_spans(), scopes=[CASE, TOPIC, PARTITION])
    rates = ", ".join(rate for event in OWN_SECONDS for rate in _rates(event))
    names = ", ".join(["`case`", "scope", "topic", "`partition`", "second", *_RATES])
    text = f"""select {names} from (select *, {rates} from ({scopes}))
        union all select {names} from ({_by_own_second()})"""
    return table_query(THROUGHPUT, text, cells=cells)


def _rates(event: str) -> list[str]:
    count, size, seconds = f"{event}_count", f"{event}_bytes", range_s(event)
    has_range = f"{count} > 1 and {seconds} > 0"
    return [
        f"if({has_range}, ({count} - 1) / {seconds}, null) as {event}_messages_per_s",
        f"if({has_range}, {size} * ({count} - 1) / {count} / {seconds}, null) as {event}_bytes_per_s",
    ]


def _by_own_second() -> str:
    """A second without an event of one kind in it has a rate of 0 of that kind."""
    events = ", ".join(f"'{event}', {event}_second, {event}_count, {event}_bytes" for event in OWN_SECONDS)
    counts = ", ".join(
        f"cast(sum(if(event = '{event}', {amount}, 0)) as double) as {event}_{unit}_per_s"
        for event in OWN_SECONDS
        for unit, amount in (("messages", "events"), ("bytes", "bytes"))
    )
    return f"""
        select `case`, '{SECOND}' as scope, cast(null as string) as topic, cast(null as int) as `partition`,
            own_second as second, {counts}
        from (
            select `case`, stack({len(OWN_SECONDS)}, {events}) as (event, own_second, events, bytes)
            from {measured("{cells}")})
        where own_second is not null
        group by `case`, own_second"""
