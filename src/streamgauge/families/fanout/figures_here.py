"""The figures of updates, where they are so few that Spark would plan for longer than this takes.

They are those of `figures_by_spark`, by the same rules: a test says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.percentiles import weighted_percentiles
from streamgauge.families.fanout.update_figures import SCHEMAS, UpdateFigures, hostnames_of, places_of
from streamgauge.tables.results import PERCENTILES

Columns = dict[str, Any]


def figures_here(
    updates: Iterable[pa.Table], sent: pa.Table, shifted: pa.Table, shares: pa.Table
) -> UpdateFigures:
    """`updates`: a table for each case. `sent`: on the reference clock; `shifted`: of `shift_rows`; `shares`:
    of `share_rows`."""
    parts: list[list[pa.Table]] = [[schema.empty_table()] for schema in SCHEMAS]
    for of_case in updates:
        if not of_case.num_rows:
            continue
        case = of_case["case"][0].as_py()
        own = _on_reference_clock(of_case, shifted)
        placed = own.append_column("hostname", hostnames_of(own, shares))
        figures = _of_case(placed, sent.filter(pc.equal(sent["case"], case)))
        for found, schema, name in zip(parts, SCHEMAS, UpdateFigures._fields, strict=True):
            columns = figures[name]
            rows = len(next(iter(columns.values())))
            found.append(_table({"case": pa.array([case] * rows, pa.string()), **columns}, schema))
    return UpdateFigures(*(pa.concat_tables(found) for found in parts))


def _table(columns: Columns, schema: pa.Schema) -> pa.Table:
    return pa.table([pa.array(columns[field.name]).cast(field.type) for field in schema], schema=schema)


def _on_reference_clock(updates: pa.Table, shifted: pa.Table) -> pa.Table:
    if not shifted.num_rows:
        return updates
    places = places_of(updates, shifted, "of_case")
    received_ns, is_theirs = integers(updates, "received_ns").copy(), places >= 0
    own = places[is_theirs]
    since_ns, shift_ns = (integers(shifted, name)[own] for name in ("since_ns", "shift_ns"))
    drifted_ns = shifted["drift"].to_numpy()[own] * (received_ns[is_theirs] - since_ns)
    # Halves away from zero.
    received_ns[is_theirs] += shift_ns + np.trunc(drifted_ns + np.copysign(0.5, drifted_ns)).astype(np.int64)
    return updates.set_column(updates.column_names.index("received_ns"), "received_ns", pa.array(received_ns))


def _of_case(updates: pa.Table, sent: pa.Table) -> dict[str, Columns]:
    """By the names that they have in `UpdateFigures`."""
    sent = sent.sort_by("stamp_ns")
    stamps_ns, due_ns = integers(sent, "stamp_ns"), integers(sent, "intended_ns")
    messages, is_known = _messages_of(integers(updates, "stamp_ns"), stamps_ns)
    clients, hostnames = integers(updates, "client"), updates["hostname"].combine_chunks()
    strays, known = np.unique(clients[~is_known], return_counts=True), pa.array(is_known)
    messages, clients, hostnames = messages[is_known], clients[is_known], hostnames.filter(known)
    latency_ns = integers(updates, "received_ns")[is_known] - due_ns[messages]
    is_warm_up: Bools = sent["is_warm_up"].to_numpy()[messages]
    begin_ns = due_ns.min(initial=np.iinfo(np.int64).max)
    seconds = np.floor((due_ns[messages] - begin_ns) / NS_PER_S).astype(np.int64)
    counts = ~is_warm_up
    measured_ns, whole_ms = latency_ns[counts], np.floor(latency_ns[counts] / NS_PER_MS).astype(np.int64)
    return {
        "latency": _latency(_groups(np.zeros(len(measured_ns), np.int64), measured_ns)),
        "host_latency": _host_latency(hostnames.filter(pa.array(counts)), measured_ns),
        "seconds": _seconds(seconds, latency_ns, is_warm_up),
        "measured_seconds": _measured_seconds(_groups(seconds[counts], measured_ns)),
        "named": _named(clients, messages, len(due_ns)),
        "strays": dict(zip(("client", "count"), strays, strict=True)),
        "counts": dict(zip(("latency_ms", "count"), np.unique(whole_ms, return_counts=True), strict=True)),
    }


def _messages_of(stamps_ns: Integers, known_ns: Integers) -> tuple[Integers, Bools]:
    """Which message each update is of, and whether it is of any; `known_ns` goes up."""
    places = np.minimum(np.searchsorted(known_ns, stamps_ns), max(len(known_ns) - 1, 0))
    is_known = known_ns[places] == stamps_ns if len(known_ns) else np.zeros(len(stamps_ns), bool)
    return places, is_known


class _Groups(NamedTuple):
    """Latencies by their groups, going up within each."""

    keys: Integers
    begins: Integers
    counts: Integers
    values_ns: Integers

    @property
    def values_ms(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.values_ns / NS_PER_MS
        return found

    def ranked_ms(self, shares: Sequence[float]) -> list[NDArray[np.float64]]:
        if not len(self.keys):
            return [np.zeros(0) for _ in shares]
        ones = np.ones(len(self.values_ns), np.int64)
        return [ns / NS_PER_MS for ns in weighted_percentiles(self.values_ns, ones, self.begins, shares)]

    def highest_ms(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.values_ms[self.begins + self.counts - 1]
        return found


def _groups(keys: Integers, latency_ns: Integers) -> _Groups:
    order = np.lexsort((latency_ns, keys))
    found, begins, counts = np.unique(keys[order], return_index=True, return_counts=True)
    return _Groups(found, begins, counts, latency_ns[order])


def _latency(groups: _Groups) -> Columns:
    values, begins, counts = groups.values_ms, groups.begins, groups.counts
    if not len(begins):
        return {name: values for name in SCHEMAS.latency.names if name != "case"}
    means = np.add.reduceat(values, begins) / counts
    squares = np.add.reduceat((values - np.repeat(means, counts)) ** 2, begins)
    is_alone = counts == 1
    deviations = np.sqrt(squares / np.where(is_alone, 1, counts - 1))
    ranked = dict(zip(PERCENTILES, groups.ranked_ms(list(PERCENTILES.values())), strict=True))
    return {
        "samples": counts,
        "mean_ms": means,
        "sd_ms": pa.array(deviations, mask=is_alone),
        "min_ms": values[begins],
        "max_ms": groups.highest_ms(),
        **{f"{name}_ms": found for name, found in ranked.items()},
    }


def _host_latency(hostnames: pa.Array, latency_ns: Integers) -> Columns:
    """Of clients whose host is known."""
    is_placed = hostnames.is_valid().to_numpy(zero_copy_only=False)
    encoded = hostnames.drop_null().dictionary_encode()
    groups = _groups(encoded.indices.to_numpy().astype(np.int64), latency_ns[is_placed])
    return {"hostname": encoded.dictionary.take(pa.array(groups.keys)), **_latency(groups)}


def _seconds(seconds: Integers, latency_ns: Integers, is_warm_up: Bools) -> Columns:
    groups = _groups(seconds, latency_ns)
    p50_ms, p99_ms = groups.ranked_ms([0.5, 0.99])
    return {
        "second": groups.keys,
        "is_warm_up": np.isin(groups.keys, seconds[is_warm_up]),
        "samples": groups.counts,
        "p50_ms": p50_ms,
        "p99_ms": p99_ms,
        "max_ms": groups.highest_ms(),
    }


def _measured_seconds(groups: _Groups) -> Columns:
    [p50_ms] = groups.ranked_ms([0.5])
    return {"second": groups.keys, "count": groups.counts, "p50": p50_ms}


def _named(clients: Integers, messages: Integers, message_count: int) -> Columns:
    numbers, copies = np.unique(clients, return_counts=True)
    pairs = np.unique(clients * max(message_count, 1) + messages)
    _, distinct = np.unique(pairs // max(message_count, 1), return_counts=True)
    return {"client": numbers, "distinct": distinct, "copies": copies}
