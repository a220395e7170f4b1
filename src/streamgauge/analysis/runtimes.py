"""Table `runtimes`: how long messages took to go through a partition, and through several side by side.

A partition's own time runs from its first message sent to its last received. Partitions run in parallel:
their times add up to the runtime of a topic or a case, and their mean rate times their number is its rate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.analysis.scopes import by_scope, measured, merged_by, result
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, PARTITION, RUNTIMES, TOPIC

_BYTES_PER_KIB = 1024
_OWN = {"sent_first_ns": "min", "received_last_ns": "max", "received_count": "sum", "received_bytes": "sum"}


def runtimes(cells: pa.Table) -> pa.Table:
    """One row: a scope through which something came."""
    own = merged_by(measured(cells), ["case", "topic", "partition"], _OWN)
    own = own.filter(pc.field("received_last_ns").is_valid())
    runtime_ns = pc.subtract(own["received_last_ns"], own["sent_first_ns"])
    own = own.append_column("runtime_ns", runtime_ns)
    own = own.append_column("partitions", pa.array(np.ones(own.num_rows, np.int64)))
    own = own.append_column("second", pa.nulls(own.num_rows, pa.int32()))
    scopes = by_scope(
        own, {"partitions": "sum", "runtime_ns": "sum", **_OWN}, scopes=[CASE, TOPIC, PARTITION]
    )
    partitions, messages, size = (
        scopes[name].to_numpy() for name in ("partitions", "received_count", "received_bytes")
    )
    runtime_s = scopes["runtime_ns"].to_numpy() / NS_PER_S
    wall_ns = scopes["received_last_ns"].to_numpy() - scopes["sent_first_ns"].to_numpy()
    return result(
        RUNTIMES,
        {name: scopes[name] for name in ("case", "scope", "topic", "partition", "second")}
        | {
            "partitions": partitions,
            "messages": messages,
            "bytes": size,
            "runtime_s": runtime_s,
            "wall_s": wall_ns / NS_PER_S,
            "messages_per_s": _per_s(messages, partitions, runtime_s),
            "kib_per_s": _per_s(size / _BYTES_PER_KIB, partitions, runtime_s),
        },
    )


def _per_s(amount: NDArray[Any], partitions: NDArray[Any], runtime_s: NDArray[Any]) -> pa.Array:
    has_time = runtime_s > 0
    return pa.array(amount * partitions / np.where(has_time, runtime_s, 1.0), mask=~has_time)
