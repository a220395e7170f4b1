"""Buckets of latencies added up: of whole cases, topics and partitions all roll-ups together; of seconds each
roll-up has its own, since few seconds are in two of them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.latency import SCOPE_OF_LEG
from streamgauge.tables.results import SECOND

_ADDED = {"count": "sum", "sum_ns": "sum", "squares_ns2": "sum", "min_ns": "min", "max_ns": "max"}


def of_seconds(buckets: pa.Table) -> pa.Table:
    return buckets.filter(pc.field("scope") == SECOND)


def of_wholes(buckets: pa.Table) -> pa.Table:
    return buckets.filter(pc.field("scope") != SECOND)


def added(parts: Sequence[pa.Table]) -> pa.Table:
    """Of all but seconds, each bucket once."""
    rows = of_wholes(pa.concat_tables(parts))
    keys = [*SCOPE_OF_LEG, "value_ns"]
    summed = rows.group_by(keys, use_threads=False).aggregate(list(_ADDED.items()))
    names = {f"{name}_{how}": name for name, how in _ADDED.items()}
    renamed = summed.rename_columns([names.get(name, name) for name in summed.column_names])
    return renamed.select(BUCKETS.names).cast(BUCKETS)
