"""Table `latency`: statistics of each leg in each scope, from the buckets.

Count, mean, SD, min and max are exact. Percentiles interpolate between the middles of
buckets, as they would between values.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.histogram import in_scopes
from streamgauge.analysis.query import table_query
from streamgauge.analysis.scopes import SCOPE
from streamgauge.analysis.whole_numbers import WHOLE, plus, times
from streamgauge.tables.results import LATENCY, PERCENTILES

_NS_PER_MS = "1e6D"


def latency(buckets: DataFrame) -> DataFrame:
    """One row: a leg in a scope."""
    keys = ", ".join([*SCOPE, "leg"])
    shares = ", ".join(f"{share}D" for share in PERCENTILES.values())
    percentiles = ", ".join(f"{_percentile_ms(place)} as {name}" for place, name in enumerate(PERCENTILES))
    text = f"""
    with sums as (
        select {keys}, sum(count) as count, sum(if(value_ns < 0, count, 0)) as negative_count,
            sum(sum_ns) as sum_ns, try_sum(squares_ns2) as squares_ns2,
            min(min_ns) as min_ns, max(max_ns) as max_ns,
            percentile(value_ns, array({shares}), count) as percentiles_ns
        from {{scoped}} group by {keys})
    select {keys}, count, negative_count,
        cast(sum_ns as double) / count / {_NS_PER_MS} as mean,
        -- Picoseconds: what lies beyond depends on the order in which doubles were added.
        round(sqrt({_variance_ns2()}) / {_NS_PER_MS}, 9) as sd,
        min_ns / {_NS_PER_MS} as min, {percentiles}, max_ns / {_NS_PER_MS} as max
    from sums"""
    # Buckets are already as few as they get: adding them up before the shuffle would not pay.
    scoped = in_scopes(buckets).repartition("case", "scope", "topic", "partition", "second", "leg")
    return table_query(LATENCY, text, scoped=scoped)


def _percentile_ms(place: int) -> str:
    """The middle of the outermost bucket may lie outside of what was measured."""
    return f"least(greatest(percentiles_ns[{place}], min_ns), max_ns) / {_NS_PER_MS}"


def _variance_ns2() -> str:
    """In whole numbers around the whole part of the mean: nothing cancels, no order matters."""
    mean = f"cast(floor(sum_ns / cast(count as {WHOLE})) as {WHOLE})"
    rest = f"(sum_ns - {times(mean, 'count')})"
    around_mean = plus("squares_ns2", times("-1", "count", mean, mean), times("-2", mean, rest))
    centred = f"(cast({around_mean} as double) - cast({rest} as double) * cast({rest} as double) / count)"
    return f"if(count > 1, greatest({centred}, 0D) / (count - 1), null)"
