"""Table `clocks`: the clock of each agent against the reference; and what that does to times.

On other hosts than the launcher's the clock was read before, during and after the case. A line through the
first and the last reading says what to add at any moment. The bound is that of these two readings, and as
much more as any reading in between lies beyond its own bound from the line.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.query import query, table_query
from streamgauge.tables.events import CLOCK_MARK
from streamgauge.tables.results import CLOCKS

_NS_PER_MS = "1e6D"
_PPM = "1e6D"

HOST_CLOCKS = """
    select `case`, host, max_by(reference_offset_ns, at_ns) as reference_offset_ns
    from {marks} where mark = 'start' group by `case`, host"""
"""One row: a host of a case; all its processes share one clock, so any agent's offset will do."""

# One row: an agent whose clock was read, with the line through its first and last reading.
_LINES = f"""
    select `case`, agent, first(`first`.at_ns) as anchor_ns,
        first(`first`.reference_offset_ns) as line_offset_ns, max(drift) as drift,
        max(greatest(`first`.reference_error_ns, `last`.reference_error_ns) + greatest(
            abs(reference_offset_ns - (`first`.reference_offset_ns + drift * (at_ns - `first`.at_ns)))
                - reference_error_ns,
            0D)) as line_error_ns,
        count(*) as readings
    from (
        select *, if(`last`.at_ns > `first`.at_ns,
            (`last`.reference_offset_ns - `first`.reference_offset_ns) / (`last`.at_ns - `first`.at_ns),
            0D) as drift
        from (
            select `case`, agent, at_ns, reference_offset_ns, reference_error_ns,
                min(struct(at_ns, reference_offset_ns, reference_error_ns))
                    over (partition by `case`, agent) as `first`,
                max(struct(at_ns, reference_offset_ns, reference_error_ns))
                    over (partition by `case`, agent) as `last`
            from {{marks}} where mark = '{CLOCK_MARK}'))
    group by `case`, agent"""

# One row: an agent; without readings the offset is the start's, and how far it moved is an error.
_SINCE_START = f"""
    select `case`, agent, max(hostname) as hostname, max(start_offset_ns) as offset_ns,
        max(abs(reference_offset_ns - start_offset_ns) + reference_error_ns) as error_ns
    from (
        select *, max(if(mark = 'start', at_ns, null)) over (partition by `case`, agent) as start_ns,
            max_by(reference_offset_ns, if(mark = 'start', at_ns, null))
                over (partition by `case`, agent) as start_offset_ns
        from {{marks}} where mark <> '{CLOCK_MARK}')
    where at_ns >= start_ns
    group by `case`, agent"""


def clocks(marks: DataFrame) -> DataFrame:
    """One row: an agent that started."""
    text = f"""
    select s.`case`, s.agent, hostname, coalesce(line_offset_ns, offset_ns) / {_NS_PER_MS} as offset_ms,
        coalesce(line_error_ns, error_ns) / {_NS_PER_MS} as error_ms,
        coalesce(drift, 0D) * {_PPM} as drift_ppm, coalesce(readings, 0) as readings
    from ({_SINCE_START}) s left join ({_LINES}) l on l.`case` = s.`case` and l.agent = s.agent"""
    return table_query(CLOCKS, text, marks=marks)


def agent_clocks(marks: DataFrame) -> DataFrame:
    """One row: an agent by its number, with what to add to its times (`on_reference`)."""
    text = f"""
    with latest as (
        select `case`, agent, kind, number, max_by(reference_offset_ns, at_ns) as start_offset_ns,
            max_by(wall_offset_ns, at_ns) as wall_offset_ns
        from {{marks}} where mark = 'start' group by `case`, agent, kind, number)
    select s.`case`, kind, number, coalesce(line_offset_ns, start_offset_ns) as reference_offset_ns,
        coalesce(anchor_ns, 0) as anchor_ns, coalesce(drift, 0D) as drift, wall_offset_ns
    from latest s left join ({_LINES}) l on l.`case` = s.`case` and l.agent = s.agent"""
    return query(text, marks=marks)


def on_reference(at_ns: str, prefix: str = "") -> str:
    """A time of an agent on the reference clock; its row has the columns of `agent_clocks`."""
    moved_ns = f"({at_ns} - {prefix}anchor_ns) * {prefix}drift"
    return (
        f"({at_ns} + coalesce({prefix}reference_offset_ns, 0)"
        f" + coalesce(cast(round({moved_ns}) as bigint), 0))"
    )
