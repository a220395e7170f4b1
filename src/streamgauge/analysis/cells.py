"""Cells: counts, bytes, first and last times of messages, from which all tables but latency are made.

The one pass over messages for all of them. A cell is of one phase, partition and second by intended time;
it is also of one second by each of a message's own times, because throughput counts by these.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.query import query
from streamgauge.analysis.scopes import CELL
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import MEASURE

TIMES = ("intended", "sent", "acked", "output", "received")
OWN_SECONDS = ("sent", "acked", "received")
COUNTS = (
    "sent",
    "acked",
    "failed",
    "received",
    "lost_write",
    "unseen",
    "duplicate",
    "out_of_order",
    "corrupt",
    "unexpected",
)
"""Of accounting; a message is never unexpected, a stray can be."""

# A delivery that failed was reported some time too, but that is no acknowledgement.
_NS = {name: f"{name}_ns" for name in TIMES} | {"acked": "if(error is null, acked_ns, null)"}
_IS_ACKED = "(acked_ns is not null and error is null)"
_IS_MISSING = f"({_IS_ACKED} and received_count = 0 and corrupt_count = 0 and consumers > 0)"
_IS_PASSED = "coalesce(if(`offset` is not null, last_offset > `offset`, last_sequence > sequence), false)"
_COUNTED = {
    "sent": "count(*)",
    "acked": f"count_if({_IS_ACKED})",
    "failed": "count(error)",
    "received": "count_if(received_count > 0)",
    "lost_write": f"count_if({_IS_MISSING} and {_IS_PASSED})",
    "unseen": f"count_if({_IS_MISSING} and not {_IS_PASSED})",
    "duplicate": "sum(greatest(received_count - 1, 0))",
    "out_of_order": "count_if(out_of_order)",
    "corrupt": "sum(corrupt_count)",
    "unexpected": "0L",
}


def cells_of(messages: DataFrame, reach: DataFrame, cases: DataFrame, starts: DataFrame) -> DataFrame:
    """One row: a cell. `reach` says how far was read, `starts` when each case began; both are small."""
    seconds = ", ".join(_own_second(name) for name in OWN_SECONDS)
    keys = ", ".join([*CELL, "phase", *(f"{name}_second" for name in OWN_SECONDS)])
    spans = ", ".join(span for name in TIMES for span in _span(name))
    counts = ", ".join(f"{counted} as {name}" for name, counted in _COUNTED.items())
    text = f"""
    with last_offsets as (
        select `case`, topic, `partition`, max(last_offset) as last_offset
        from {{reach}} group by `case`, topic, `partition`),
    last_sequences as (
        select `case`, topic, producer, max(last_sequence) as last_sequence
        from {{reach}} where producer is not null group by `case`, topic, producer),
    reached as (
        select m.*, o.last_offset, q.last_sequence, c.consumers, {seconds}
        from {{messages}} m
        left join last_offsets o
            on o.`case` = m.`case` and o.topic = m.topic and o.`partition` = m.`partition`
        left join last_sequences q on q.`case` = m.`case` and q.topic = m.topic and q.producer = m.producer
        left join {{cases}} c on c.`case` = m.`case`
        left join {{starts}} s on s.`case` = m.`case`)
    select {keys}, {counts}, {spans}, count_if(not output_is_append) as created_count
    from reached group by {keys}"""
    return query(text, messages=messages, reach=reach, cases=cases, starts=starts)


def measured(cells: str) -> str:
    """Cells of the measured phase."""
    return f"(select * from {cells} where phase = '{MEASURE}')"


def merged_spans() -> list[str]:
    """The aggregates that merge the spans of cells into the span of a scope."""
    return [
        merged
        for name in TIMES
        for merged in (
            f"min({name}_first_ns) as {name}_first_ns",
            f"max({name}_last_ns) as {name}_last_ns",
            f"sum({name}_count) as {name}_count",
            f"sum({name}_bytes) as {name}_bytes",
        )
    ]


def _span(name: str) -> list[str]:
    ns = _NS[name]
    return [
        f"min({ns}) as {name}_first_ns",
        f"max({ns}) as {name}_last_ns",
        f"count({ns}) as {name}_count",
        f"sum(if({ns} is not null, size_bytes, null)) as {name}_bytes",
    ]


def _own_second(name: str) -> str:
    return f"cast(floor(({_NS[name]} - start_ns) / {NS_PER_S}) as int) as {name}_second"
