"""The same analysis in DuckDB on the same events: messages joined and written, counts, buckets of legs.

Messages are a table in DuckDB, too, so that it reads nothing of what it wrote. To take first copies by
`arg_min`, or the legs by `unnest`, takes it longer.
"""

from __future__ import annotations

import time
from pathlib import Path

from streamgauge.core.run_dir import RunDir

_MESSAGES = """
create temp table messages as
  with intact as (
    select *, max(sequence) over (
        partition by consumer, producer, topic, partition order by arrival
        rows between unbounded preceding and 1 preceding) > sequence as overtaken
    from read_parquet('{receives}') where state = 0
  ), numbered as (
    select *, row_number() over key_order as copy, count(*) over (partition by producer, sequence) as copies
    from intact
    window key_order as (partition by producer, sequence order by received_ns, consumer, arrival)
  )
  select s.producer, s.sequence, s.topic, coalesce(s.partition, n.partition) as partition,
    coalesce(s."offset", n."offset") as "offset", s.size_bytes, s.intended_ns // 1000000000 as second,
    s.intended_ns, s.sent_ns, s.acked_ns, n.broker_ms * 1000000 as broker_ns, n.received_ns,
    coalesce(n.copies, 0) as received_count, coalesce(n.overtaken, false) as out_of_order, s.error
  from read_parquet('{sends}') s
  left join (select * from numbered where copy = 1) n using (producer, sequence)
"""
_WRITTEN = "copy messages to '{written}' (format parquet)"
_LEGS = (
    ("intended_ns", "received_ns"),
    ("sent_ns", "received_ns"),
    ("sent_ns", "acked_ns"),
    ("sent_ns", "broker_ns"),
    ("broker_ns", "received_ns"),
    ("intended_ns", "sent_ns"),
)
_BUCKETS = """
create or replace table buckets as
with legs as ({legs}), bucketed as (
  select *, case when abs(ns) < 2048 then ns::double
    else round(ns / pow(2, floor(log2(abs(ns))) - 10)) * pow(2, floor(log2(abs(ns))) - 10) end as value_ns
  from legs where ns is not null
)
select leg, value_ns, topic, partition, second, count(*) as count, sum(ns - value_ns) as beside,
  sum((ns - value_ns) * (ns - value_ns)) as squares, min(ns) as low, max(ns) as high
from bucketed
group by grouping sets ((leg, value_ns, topic, partition), (leg, value_ns, second))
"""
_PERCENTILES = """
create or replace table latency as
with running as (
  select *, sum(count) over (partition by leg, topic, partition, second order by value_ns) as up_to,
    sum(count) over (partition by leg, topic, partition, second) as total
  from buckets
)
select leg, topic, partition, second, {percentiles}, max(high), min(low), sum(count)
from running group by leg, topic, partition, second
"""
_COUNTS = """
create or replace table accounting as
select topic, partition, second, count(*), count(acked_ns), count(error),
  count_if(received_count > 0), count_if(received_count = 0), sum(greatest(received_count - 1, 0)),
  count_if(out_of_order), sum(size_bytes), min(sent_ns), max(sent_ns), min(acked_ns), max(acked_ns),
  min(received_ns), max(received_ns), min(broker_ns), max(broker_ns)
from messages
group by grouping sets ((), (topic), (topic, partition), (second))
"""


def duckdb_seconds(run: RunDir, folder: Path, threads: int) -> float:
    """Wall seconds."""
    import duckdb

    places = {
        "sends": run.url(run.events("sends")) + "/*/*.parquet",
        "receives": run.url(run.events("receives")) + "/*/*.parquet",
        "written": str(folder / "duckdb-messages.parquet"),
    }
    legs = " union all ".join(
        f"select {number} as leg, {end} - {begin} as ns, topic, partition, second from messages"
        for number, (begin, end) in enumerate(_LEGS)
    )
    shares = (0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.999)
    percentiles = ", ".join(f"min(value_ns) filter (up_to >= {share} * total)" for share in shares)
    begin = time.perf_counter()
    with duckdb.connect() as engine:
        engine.execute("set enable_progress_bar = false")  # its cost is small, but not ours to print
        engine.execute(f"set threads = {threads}; set temp_directory = '{folder}/duckdb-spill'")
        engine.execute(_MESSAGES.format(**places))
        engine.execute(_WRITTEN.format(**places))
        engine.execute(_BUCKETS.format(legs=legs))
        engine.execute(_PERCENTILES.format(percentiles=percentiles))
        engine.execute(_COUNTS)
    return time.perf_counter() - begin
