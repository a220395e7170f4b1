"""Table `cpu`: CPU used during the measured phase, and per message.

Agents read their own CPU time when the phase begins and ends. Brokers are sampled
about once a second, so their use is interpolated at the same two moments.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.query import table_query
from streamgauge.analysis.resources import ON_REFERENCE_CLOCK
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, CPU, MEASURE

_US_PER_S = "1e6D"


def cpu(samples: DataFrame, marks: DataFrame, accounting: DataFrame) -> DataFrame:
    """One row: the processes of one kind in one case."""
    text = f"""
    with processes as ({_agents()} union all {_brokers()}),
    kinds as (
        select `case`, kind, count(*) as processes, sum(cpu_s) as cpu_s, max(cpu_s / seconds) as busiest_cores
        from processes where seconds > 0 group by `case`, kind),
    handled as (
        select k.*, if(kind = 'consumer', received, sent) as messages
        from kinds k
        left join {{accounting}} a on a.`case` = k.`case` and a.scope = '{CASE}' and a.phase = '{MEASURE}')
    select *, if(messages > 0, cpu_s * {_US_PER_S} / messages, null) as cpu_us_per_message from handled"""
    return table_query(CPU, text, samples=samples, marks=marks, accounting=accounting)


def _agents() -> str:
    """One row: an agent; a consumer's phase lasts until it has drained."""
    return f"""
    select `case`, kind, `end`.cpu_s - `begin`.cpu_s as cpu_s,
        (`end`.at_ns - `begin`.at_ns) / {NS_PER_S} as seconds
    from (
        select `case`, kind, {_at("measure_begin")} as `begin`,
            coalesce(if(kind = 'consumer', {_at("drained")}, null), {_at("measure_end")}) as `end`
        from {{marks}} group by `case`, kind, agent)"""


def _brokers() -> str:
    """One row: a broker; what lies outside of its samples cannot be known, so the phase is cut to them."""
    point = "struct(at_ns, cpu_s)"
    edges = ", ".join(
        f"first({edge}_ns) as {edge}_ns,"
        f" max(if(at_ns <= {edge}_ns, {point}, null)) as {edge}_before,"
        f" min(if(at_ns >= {edge}_ns, {point}, null)) as {edge}_after"
        for edge in ("begin", "end")
    )
    cpu_s = f"{_interpolated('end', 'cpu_s')} - {_interpolated('begin', 'cpu_s')}"
    span_ns = f"{_interpolated('end', 'at_ns')} - {_interpolated('begin', 'at_ns')}"
    return f"""
    select `case`, kind, {cpu_s} as cpu_s, ({span_ns}) / {NS_PER_S} as seconds
    from (
        select b.`case`, kind, min({point}) as `first`, max({point}) as `last`, {edges}
        from ({ON_REFERENCE_CLOCK} where kind = 'broker') b left join ({_PHASES}) p on p.`case` = b.`case`
        group by b.`case`, kind, host, source)"""


# One row: a case, with the measured phase of all its agents together, on the reference clock.
_PHASES = """
    select `case`, min(if(mark = 'measure_begin', at_ns + reference_offset_ns, null)) as begin_ns,
        max(if(mark in ('measure_end', 'drained'), at_ns + reference_offset_ns, null)) as end_ns
    from {marks} group by `case`"""


def _at(mark: str) -> str:
    """The agent's latest such mark."""
    return f"max(if(mark = '{mark}', struct(at_ns, cpu_s), null))"


def _interpolated(edge: str, field: str) -> str:
    """The field at an edge of the phase; at the outermost sample where the edge lies beyond it."""
    outermost = "`first`" if edge == "begin" else "`last`"
    before, after = f"{edge}_before", f"{edge}_after"
    gap_ns = f"({after}.at_ns - {before}.at_ns)"
    share = f"if({gap_ns} > 0, ({edge}_ns - {before}.at_ns) / {gap_ns}, 0D)"
    between = f"{before}.{field} + {share} * ({after}.{field} - {before}.{field})"
    return f"coalesce({between}, {before}.{field}, {after}.{field}, {outermost}.{field})"
