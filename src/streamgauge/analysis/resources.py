"""Table `resources`: what each process and machine used between two samples."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.clocks import HOST_CLOCKS
from streamgauge.analysis.query import table_query
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import RESOURCES

_COUNTERS = (
    "net_sent_bytes",
    "net_received_bytes",
    "disk_read_bytes",
    "disk_written_bytes",
    "swapped_bytes",
    "throttled_count",
)
_SINCE = "over (partition by `case`, host, source order by at_ns)"

ON_REFERENCE_CLOCK = f"""
    select s.* except (at_ns), at_ns + coalesce(reference_offset_ns, 0) as at_ns
    from {{samples}} s left join ({HOST_CLOCKS}) h on h.`case` = s.`case` and h.host = s.host"""
"""Samples with their times brought onto the reference clock."""


def per_s(counter: str) -> str:
    """The name of a counter's rate."""
    return f"{counter.removesuffix('_count')}_per_s"


def resources(samples: DataFrame, marks: DataFrame, starts: DataFrame) -> DataFrame:
    """One row: an interval. A process whose counters fell was started anew: no interval there."""
    more = ", ".join(f"{name} - lag({name}) {_SINCE} as {name}_more" for name in _COUNTERS)
    rates = ", ".join(
        f"if({name}_more >= 0, {name}_more / seconds, null) as {per_s(name)}" for name in _COUNTERS
    )
    text = f"""
    with intervals as (
        select p.*, (at_ns - lag(at_ns) {_SINCE}) / {NS_PER_S} as seconds,
            cpu_s - lag(cpu_s) {_SINCE} as cpu_used_s,
            (at_ns - coalesce(start_ns, min(at_ns) over (partition by `case`))) / {NS_PER_S} as at_s, {more}
        from (
            select r.*, start_ns
            from ({ON_REFERENCE_CLOCK}) r left join {{starts}} b on b.`case` = r.`case`) p)
    select *, cpu_used_s / seconds as cpu_cores, {rates}
    from intervals where seconds > 0 and cpu_used_s >= 0"""
    return table_query(RESOURCES, text, samples=samples, marks=marks, starts=starts)
