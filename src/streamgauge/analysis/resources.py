"""Table `resources`: what each process and machine used between two samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.analysis.clocks import host_offsets_ns
from streamgauge.analysis.joining.columns import nullable
from streamgauge.analysis.joining.groups import Integers
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
_ONE = ["case", "host", "source"]


def resources(
    samples: pa.Table, marks: Iterable[Mapping[str, Any]], starts_ns: Mapping[str, int]
) -> pa.Table:
    """One row: an interval. A process whose counters fell was started anew: no interval there."""
    schema = RESOURCES.arrow_schema()
    if not samples.num_rows:
        return schema.empty_table()
    ordered = on_reference_clock(samples, marks).sort_by([(name, "ascending") for name in (*_ONE, "at_ns")])
    at_ns = ordered["at_ns"].to_numpy()
    seconds = _since(at_ns) / NS_PER_S
    cpu_used_s = _since(ordered["cpu_s"].to_numpy())
    is_interval = _is_same_as_before(ordered) & (seconds > 0) & (cpu_used_s >= 0)
    span_s = np.where(is_interval, seconds, 1.0)
    columns: dict[str, Any] = {name: ordered[name] for name in ordered.column_names}
    columns |= {"at_s": (at_ns - _begins_ns(ordered, starts_ns)) / NS_PER_S, "cpu_cores": cpu_used_s / span_s}
    for name in _COUNTERS:
        counter = nullable(ordered, name)
        more = _since(counter.values)
        is_known = counter.valid & np.append(False, counter.valid[:-1]) & (more >= 0)
        columns[per_s(name)] = pa.array(more / span_s, mask=~is_known)
    arrays = [_column(columns[field.name]).cast(field.type) for field in schema]
    return pa.table(arrays, schema=schema).filter(pa.array(is_interval))


def per_s(counter: str) -> str:
    """The name of a counter's rate."""
    return f"{counter.removesuffix('_count')}_per_s"


def on_reference_clock(samples: pa.Table, marks: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Samples with their times brought onto the reference clock."""
    offsets_ns = host_offsets_ns(marks)
    hosts = zip(samples["case"].to_pylist(), samples["host"].to_pylist(), strict=True)
    added_ns = np.array([offsets_ns.get(host) or 0 for host in hosts], np.int64)
    at_ns = pa.array(samples["at_ns"].to_numpy() + added_ns)
    return samples.set_column(samples.column_names.index("at_ns"), "at_ns", at_ns)


def _begins_ns(samples: pa.Table, starts_ns: Mapping[str, int]) -> Integers:
    """When each sample's case began: with its first message, or else its first sample."""
    firsts = samples.group_by("case").aggregate([("at_ns", "min")]).to_pylist()
    begins = {row["case"]: row["at_ns_min"] for row in firsts} | dict(starts_ns)
    return np.array([begins[case] for case in samples["case"].to_pylist()], np.int64)


def _is_same_as_before(samples: pa.Table) -> NDArray[np.bool_]:
    names = [samples[name].combine_chunks().dictionary_encode().indices.to_numpy() for name in _ONE]
    is_same = np.ones(samples.num_rows, bool)
    is_same[0] = False
    for codes in names:
        is_same[1:] &= codes[1:] == codes[:-1]
    return is_same


def _since(values: NDArray[Any]) -> NDArray[Any]:
    """How much more than in the row before."""
    return np.diff(values, prepend=values[:1])


def _column(values: Any) -> pa.ChunkedArray | pa.Array:
    return values if isinstance(values, pa.ChunkedArray) else pa.array(values)
