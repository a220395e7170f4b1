"""Tables `latency` and `histogram`: statistics of each leg in each scope, from the buckets.

Count, mean, SD, min and max are exact. Percentiles interpolate between the middles of buckets, as they would
between values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.groups import Integers, group_rows
from streamgauge.core.clock import NS_PER_MS
from streamgauge.core.percentiles import weighted_percentiles
from streamgauge.tables.results import CASE, HISTOGRAM, LATENCY, PERCENTILES

SCOPE_OF_LEG = ("case", "scope", "topic", "partition", "second", "leg")
_SD_DIGITS = 9
"""Of ms: picoseconds; what lies beyond depends on the order in which doubles were added."""


def histogram(buckets: pa.Table) -> pa.Table:
    """The buckets of whole cases."""
    of_cases = buckets.filter(pc.field("scope") == CASE)
    summed = of_cases.group_by(["case", "leg", "value_ns"]).aggregate([("count", "sum")])
    value_ms = pc.divide(summed["value_ns"].cast(pa.float64()), float(NS_PER_MS))
    columns = [summed["case"], summed["leg"], value_ms, summed["count_sum"]]
    return pa.table(columns, names=HISTOGRAM.column_names)


def latency(buckets: pa.Table) -> pa.Table:
    """One row: a leg in a scope. All buckets of a scope are there, maybe in several parts."""
    if not buckets.num_rows:
        return LATENCY.arrow_schema().empty_table()
    keys = [buckets[name].combine_chunks().dictionary_encode("encode") for name in SCOPE_OF_LEG]
    scopes = group_rows([_codes(key) for key in keys])
    number, value_ns, count = _merged(scopes.of_row, buckets)
    begins = np.searchsorted(number, np.arange(scopes.count))
    total = np.add.reduceat(count, begins)
    least, _ = scopes.extremes(_integers(buckets, "min_ns"), None)
    _, greatest = scopes.extremes(_integers(buckets, "max_ns"), None)
    mean, sd = _moments(scopes.of_row, buckets, total)
    ranked = weighted_percentiles(value_ns, count, begins, list(PERCENTILES.values()))
    columns: dict[str, Any] = {
        name: key.dictionary.take(pa.array(codes))
        for name, key, codes in zip(SCOPE_OF_LEG, keys, scopes.keys, strict=True)
    }
    columns |= {
        "count": total,
        "negative_count": np.add.reduceat(np.where(value_ns < 0, count, 0), begins),
        "mean": pa.array(mean, pa.float64()),
        "sd": pa.array(sd, pa.float64()),
        "min": least / NS_PER_MS,
        # The middle of the outermost bucket may lie outside of what was measured.
        **{
            name: np.clip(ns, least, greatest) / NS_PER_MS
            for name, ns in zip(PERCENTILES, ranked, strict=True)
        },
        "max": greatest / NS_PER_MS,
    }
    schema = LATENCY.arrow_schema()
    return pa.table({f.name: pa.array(columns[f.name]).cast(f.type) for f in schema}, schema=schema)


def _merged(of_row: Integers, buckets: pa.Table) -> tuple[Integers, Integers, Integers]:
    """Scope, value and count of each bucket once, in order."""
    value_ns, count = _integers(buckets, "value_ns"), _integers(buckets, "count")
    order = np.lexsort((value_ns, of_row))
    number, value_ns, count = of_row[order], value_ns[order], count[order]
    is_new = np.ones(len(number), bool)
    is_new[1:] = (number[1:] != number[:-1]) | (value_ns[1:] != value_ns[:-1])
    places = np.flatnonzero(is_new)
    return number[places], value_ns[places], np.add.reduceat(count, places)


def _moments(of_row: Integers, buckets: pa.Table, total: Integers) -> tuple[list[float], list[float | None]]:
    """Mean and SD in ms, from sums that some of the buckets have."""
    has_sums = np.flatnonzero(buckets["sum_ns"].is_valid().to_numpy())
    among = buckets.select(["sum_ns", "squares_ns2"]).take(pa.array(has_sums))
    sums: list[int] = [0] * len(total)
    squares: list[int | None] = [0] * len(total)
    rows = zip(of_row[has_sums].tolist(), *(column.to_pylist() for column in among.columns), strict=True)
    for scope, sum_ns, squares_ns2 in rows:
        sums[scope] += int(sum_ns)
        known = squares[scope]
        squares[scope] = None if known is None or squares_ns2 is None else known + int(squares_ns2)
    counts = total.tolist()
    means = [float(sum_ns) / count / NS_PER_MS for sum_ns, count in zip(sums, counts, strict=True)]
    return means, [_sd_ms(*parts) for parts in zip(counts, sums, squares, strict=True)]


def _sd_ms(count: int, sum_ns: int, squares_ns2: int | None) -> float | None:
    """In whole numbers around the whole part of the mean: nothing cancels, no order matters."""
    if count < 2 or squares_ns2 is None:
        return None
    mean = sum_ns // count
    rest = sum_ns - mean * count
    centred = float(squares_ns2 - count * mean * mean - 2 * mean * rest) - float(rest) * float(rest) / count
    return round(math.sqrt(max(centred, 0.0) / (count - 1)) / NS_PER_MS, _SD_DIGITS)


def _codes(key: pa.DictionaryArray) -> Integers:
    codes: Integers = key.indices.to_numpy().astype(np.int64)
    return codes


def _integers(buckets: pa.Table, name: str) -> Integers:
    values: Integers = buckets[name].to_numpy()
    return values
