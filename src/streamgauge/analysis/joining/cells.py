"""Cells: counts, bytes, first and last times of messages, from which all tables but latency are made.

The one pass over messages for all of them. A cell is of one phase, partition and second by intended time;
it is also of one second by each of a message's own times, because throughput counts by these.

An acknowledged message of which no copy came, not even a damaged one, is a *lost write* when something behind
it in its partition was read, else it is *unseen*. Where its place is not known (acks=0), its producer's order
stands in for offsets, as far as it tells (`order_stands_in`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import Nullable
from streamgauge.analysis.joining.groups import Bools, Groups, Integers, group_rows
from streamgauge.analysis.joining.messages import UNPLACED, Messages
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.column import fields
from streamgauge.tables.results import MEASURE, WARM_UP

TIMES = ("intended", "sent", "acked", "broker", "received")
OWN_SECONDS = ("sent", "acked", "received")
COUNTS = (
    "sent",
    "acked",
    "failed",
    "aborted",
    "received",
    "lost_write",
    "unseen",
    "duplicate",
    "out_of_order",
    "corrupt",
    "unexpected",
)
"""Of accounting; a message is never unexpected, a stray can be."""

CELLS = pa.schema(
    [
        *fields(pa.string(), "case", "topic"),
        *fields(pa.int32(), "partition", "second"),
        *fields(pa.string(), "phase"),
        *fields(pa.int32(), *(f"{name}_second" for name in OWN_SECONDS)),
        *fields(pa.int64(), *COUNTS),
        *(
            (f"{name}_{what}", pa.int64())
            for name in TIMES
            for what in ("first_ns", "last_ns", "count", "bytes")
        ),
        *((f"{name}_first_{what}", pa.int64()) for name in OWN_SECONDS for what in ("count", "bytes")),
        ("created_count", pa.int64()),
    ]
)


def cells_of(messages: Messages) -> pa.Table:
    """One row: a cell."""
    if not len(messages.sequence):
        return CELLS.empty_table()
    facts, times = messages.facts, messages.times()
    own = {name: _own_second(times[name], facts.start_ns) for name in OWN_SECONDS}
    keys = [messages.topic, messages.place, messages.second, messages.is_warm_up]
    cells = group_rows([*keys, *(second.values for second in own.values())])
    topic, partition, second, is_warm_up, *own_seconds = cells.keys
    columns: dict[str, Any] = {
        "case": [facts.case] * cells.count,
        "topic": [facts.topic_name(number) for number in topic.tolist()],
        "partition": pa.array(partition, mask=partition == UNPLACED),
        "second": second,
        "phase": [WARM_UP if is_so else MEASURE for is_so in is_warm_up.tolist()],
    }
    for (name, times_second), found in zip(own.items(), own_seconds, strict=True):
        is_missing = np.zeros(cells.count, bool)
        if not times_second.valid.all():
            is_missing = found == times_second.values.min()
        columns[f"{name}_second"] = pa.array(found, mask=is_missing)
    columns |= _counts(messages, cells)
    for name, time in times.items():
        columns |= _span(messages, cells, name, time)
    is_created = messages.broker_ns.valid & ~messages.broker_is_append
    columns["created_count"] = cells.sizes(is_created)
    return pa.table({f.name: pa.array(columns[f.name]).cast(f.type) for f in CELLS}, schema=CELLS)


def _counts(messages: Messages, cells: Groups) -> dict[str, Integers]:
    is_acked = messages.is_acked
    is_missing = is_acked & (messages.received_count == 0) & (messages.corrupt_count == 0)
    is_missing &= messages.facts.consumers > 0
    is_passed = np.zeros(len(is_missing), bool)
    if is_missing.any():
        is_passed[is_missing] = _passed(messages, np.flatnonzero(is_missing))
    is_repeated, is_damaged = messages.received_count > 1, messages.corrupt_count > 0
    return {
        "sent": cells.sizes(),
        "acked": cells.sizes(is_acked),
        "failed": cells.sizes(messages.is_failed),
        "aborted": cells.sizes(messages.is_aborted),
        "received": cells.sizes(messages.received_count > 0),
        "lost_write": cells.sizes(is_missing & is_passed),
        "unseen": cells.sizes(is_missing & ~is_passed),
        "duplicate": cells.sums(messages.received_count - 1, is_repeated).astype(np.int64),
        "out_of_order": cells.sizes(messages.out_of_order),
        "corrupt": cells.sums(messages.corrupt_count, is_damaged).astype(np.int64),
        "unexpected": np.zeros(cells.count, np.int64),
    }


def _passed(messages: Messages, rows: Integers) -> Bools:
    facts, offset = messages.facts, messages.offset
    return is_passed(
        facts.last_offsets,
        facts.last_sequences if facts.has_order else {},
        topic=messages.topic[rows],
        place=messages.place[rows],
        offset=Nullable(offset.values[rows], offset.valid[rows]),
        producer=messages.producer[rows],
        sequence=messages.sequence[rows],
    )


def is_passed(
    last_offsets: Mapping[tuple[int, int], int],
    last_sequences: Mapping[tuple[int, int], int],
    *,
    topic: Integers,
    place: Integers,
    offset: Nullable,
    producer: Integers,
    sequence: Integers,
) -> Bools:
    """Was something behind these messages, of which there is at least one, read? By offset, or by the
    producer's order where that is not known. Without `last_sequences` that order tells nothing."""
    by_offset = _last(last_offsets, topic, place)
    by_sequence = _last(last_sequences, topic, producer)
    passed: Bools = np.where(offset.valid, by_offset > offset.values, by_sequence > sequence)
    return passed


def _last(known: Mapping[tuple[int, int], int], topic: Integers, other: Integers) -> Integers:
    groups = group_rows([topic, other])
    pairs = zip(*(key.tolist() for key in groups.keys), strict=True)
    nothing = np.iinfo(np.int64).min
    return np.array([known.get((first, second), nothing) for first, second in pairs])[groups.of_row]


def _span(messages: Messages, cells: Groups, name: str, time: Nullable) -> dict[str, Any]:
    valid = None if time.valid.all() else time.valid
    count = cells.sizes(valid)
    first, last = cells.extremes(time.values, valid)
    is_empty = count == 0
    at_first = {}
    if name in OWN_SECONDS:
        # Messages that were told of at once bear one stamp.
        is_first = (time.values == first[cells.of_row]) & time.valid
        at_first = {
            f"{name}_first_count": cells.sizes(is_first),
            f"{name}_first_bytes": cells.sums(messages.size_bytes, is_first).astype(np.int64),
        }
    return at_first | {
        f"{name}_first_ns": pa.array(first, mask=is_empty),
        f"{name}_last_ns": pa.array(last, mask=is_empty),
        f"{name}_count": count,
        f"{name}_bytes": pa.array(cells.sums(messages.size_bytes, valid).astype(np.int64), mask=is_empty),
    }


def _own_second(time: Nullable, start_ns: int) -> Nullable:
    """Where there is no time, a second before all others."""
    second = (time.values - start_ns) // NS_PER_S
    if not time.valid.all():
        before = second[time.valid].min(initial=0) - 1
        second = np.where(time.valid, second, before)
    return Nullable(second, time.valid)
