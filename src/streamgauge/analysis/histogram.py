"""Table `histogram`, and the buckets that latency is computed from.

Buckets are shaped as in HdrHistogram: a value is rounded to 11 significant bits, so it
lies within 1/2048 (0.049%) of the middle of its bucket; below 2048 ns it is exact.
Zero and negative values have buckets too. Beside its count a bucket has the exact sums of its
values and of their squares, from the distances from its middle; so mean and SD come out exact.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.query import query, table_query
from streamgauge.analysis.scopes import CELL
from streamgauge.analysis.whole_numbers import plus, times
from streamgauge.tables.results import CASE, HISTOGRAM, LEGS, MEASURE, PARTITION, SECOND, TOPIC

_NS_PER_MS = "1e6D"
_DOUBLE_BITS = 53
_BUCKET_BITS = 11


def histogram(buckets: DataFrame) -> DataFrame:
    """The buckets of whole cases."""
    text = f"""
    select `case`, leg, value_ns / {_NS_PER_MS} as value_ms, sum(count) as count
    from {{buckets}} where not is_second
    group by `case`, leg, value_ns"""
    return table_query(HISTOGRAM, text, buckets=buckets)


def buckets_of(messages: DataFrame) -> DataFrame:
    """One row: a bucket of one leg, of a partition or of a second; the one pass for all latencies.

    Cells of both would hold few messages a bucket, so they would hardly be fewer than the messages.
    """
    cell = ", ".join(CELL)
    # Legs are numbers until the end: shorter keys to hash and to shuffle.
    legs = ", ".join(f"{number}, {_leg_ns(leg)}" for number, leg in enumerate(LEGS))
    names = ", ".join(f"'{leg}'" for leg in LEGS)
    keys = "`case`, leg_number, value_ns"
    text = f"""
    with latencies as (
        select {cell}, stack({len(LEGS)}, {legs}) as (leg_number, ns)
        from {{messages}} where phase = '{MEASURE}'),
    bucketed as (select *, {bucket_middle("ns")} as value_ns from latencies where ns is not null),
    counted as (
        select {keys}, topic, `partition`, second, grouping(second) = 0 as is_second, count(*) as count,
            sum(ns - value_ns) as beside_sum,
            -- A double adds whole numbers exactly up to 2^53; a long could overflow where clocks are broken.
            sum(cast(ns - value_ns as double) * (ns - value_ns)) as beside_squares,
            min(ns) as min_ns, max(ns) as max_ns
        from bucketed
        group by {keys}, topic, `partition`, second
            grouping sets (({keys}, topic, `partition`), ({keys}, second)))
    select * except (leg_number, beside_sum, beside_squares), get(array({names}), leg_number) as leg,
        {plus(times("value_ns", "count"), "beside_sum")} as sum_ns,
        -- Σ(middle + beside)²
        {plus(times("value_ns", "value_ns", "count"), times("2", "value_ns", "beside_sum"), "beside_squares")}
            as squares_ns2
    from counted"""
    return query(text, messages=messages)


def in_scopes(buckets: DataFrame) -> DataFrame:
    """One row: a bucket in a scope; those of a partition are also of its topic and of its case."""
    places = ", ".join([_place(CASE), _place(TOPIC, "topic"), _place(PARTITION, "topic", "partition")])
    text = f"""
    with placed as (
        select * except (topic, `partition`, second, is_second),
            inline(if(is_second, array({_place(SECOND, "second")}), array({places})))
        from {{buckets}})
    select * from placed where scope <> '{PARTITION}' or `partition` is not null"""
    return query(text, buckets=buckets)


def bucket_middle(value: str) -> str:
    """The value rounded to 11 significant bits, by Dekker's and Veltkamp's splitting.

    A logarithm would do too, but is off by one at some powers of two, and slow.
    """
    exact = f"cast({value} as double)"
    spread = f"({exact} * {2 ** (_DOUBLE_BITS - _BUCKET_BITS) + 1}D)"
    return f"cast({spread} - ({spread} - {exact}) as bigint)"


def _place(scope: str, *names: str) -> str:
    types = {"topic": "string", "partition": "int", "second": "int"}
    members = (f"'{n}', {f'`{n}`' if n in names else f'cast(null as {kind})'}" for n, kind in types.items())
    return f"named_struct('scope', '{scope}', {', '.join(members)})"


def _leg_ns(leg: str) -> str:
    begin, end = (f"{name}_ns" for name in leg.split("_to_"))
    # A failed delivery is reported some time too, but that is no acknowledgement.
    return f"if(error is null, {end} - {begin}, null)" if end == "acked_ns" else f"{end} - {begin}"
