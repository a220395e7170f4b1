"""Table `runtimes`: how long messages took to go through a partition, and through several side by side.

A partition's own time runs from its first message sent to its last received. Partitions run in parallel:
their times add up to the runtime of a topic or a case, and their mean rate times their number is its rate.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.cells import measured
from streamgauge.analysis.query import table_query
from streamgauge.analysis.scopes import by_scope
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, PARTITION, RUNTIMES, TOPIC

_BYTES_PER_KIB = 1024


def runtimes(cells: DataFrame) -> DataFrame:
    """One row: a scope through which something came."""
    own = f"""(
        select `case`, topic, `partition`, cast(null as int) as second,
            min(sent_first_ns) as first_ns, max(received_last_ns) as last_ns,
            sum(received_count) as messages, sum(received_bytes) as bytes
        from {measured("{cells}")}
        group by `case`, topic, `partition` having last_ns is not null)"""
    aggregates = [
        "count(*) as partitions",
        "sum(messages) as messages",
        "sum(bytes) as bytes",
        f"sum(last_ns - first_ns) / {NS_PER_S} as runtime_s",
        f"(max(last_ns) - min(first_ns)) / {NS_PER_S} as wall_s",
    ]
    scopes = by_scope(own, aggregates, scopes=[CASE, TOPIC, PARTITION])
    text = f"""select *, {_per_s("messages")} as messages_per_s,
            {_per_s(f"bytes / {_BYTES_PER_KIB}")} as kib_per_s
        from ({scopes})"""
    return table_query(RUNTIMES, text, cells=cells)


def _per_s(amount: str) -> str:
    return f"if(runtime_s > 0, {amount} * partitions / runtime_s, null)"
