"""The first intact copy of each message of a part, how many came, and whether a later one came before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import (
    SEQUENCE_BITS,
    Nullable,
    integers,
    looked_up,
    message_keys,
    nullable,
    on_reference,
)
from streamgauge.analysis.joining.facts import CaseFacts, Stream
from streamgauge.analysis.joining.groups import Bools, Integers, group_rows
from streamgauge.core.clock import NS_PER_MS
from streamgauge.tables.events import BROKER_TIME_APPEND, BROKER_TIME_NONE

_LAST_BROKER_MS = 9_000_000_000_000
"""Year 2255. A timestamp beyond it, or below 0, is none, and would overflow as ns."""


@dataclass(frozen=True)
class FirstCopies:
    """One row a message of which an intact copy came, by key."""

    keys: Integers
    counts: Integers
    partition: Integers
    offset: Integers
    broker_ns: Nullable
    broker_is_append: Bools
    received_ns: Integers
    is_overtaken: Bools

    @classmethod
    def of(cls, facts: CaseFacts, receives: pa.Table, later_arrivals: Mapping[Stream, int]) -> FirstCopies:
        consumer, broker_time = integers(receives, "consumer"), integers(receives, "broker_time")
        keys = message_keys(integers(receives, "producer"), integers(receives, "sequence"))
        received_ns = on_reference(integers(receives, "received_ns"), consumer, facts.consumer_clocks)
        first, counts = _first_of_each(keys, received_ns, consumer, integers(receives, "arrival"))
        broker_ns = _broker_ns(facts, receives, consumer, broker_time)
        return cls(
            keys[first],
            counts,
            integers(receives, "partition")[first],
            integers(receives, "offset")[first],
            Nullable(broker_ns.values[first], broker_ns.valid[first]),
            (broker_time == BROKER_TIME_APPEND)[first],
            received_ns[first],
            _overtaken(receives, later_arrivals)[first],
        )


def _broker_ns(facts: CaseFacts, receives: pa.Table, consumer: Integers, broker_time: Integers) -> Nullable:
    """A broker's stamp is wall time; without the consumer's clock reading it cannot be placed."""
    stamp_ms = nullable(receives, "broker_ms")
    clocks = {number: c for number, c in facts.consumer_clocks.items() if c.wall_offset_ns is not None}
    is_placed = looked_up(consumer, dict.fromkeys(clocks, True), np.bool_)
    valid = stamp_ms.valid & is_placed & (broker_time != BROKER_TIME_NONE)
    valid &= (stamp_ms.values >= 0) & (stamp_ms.values <= _LAST_BROKER_MS)
    wall_ns = looked_up(consumer, {number: c.wall_offset_ns for number, c in clocks.items()})
    stamp_ns = np.where(valid, stamp_ms.values, 0) * NS_PER_MS - wall_ns
    return Nullable(on_reference(stamp_ns, consumer, facts.consumer_clocks), valid)


def _first_of_each(
    keys: Integers, received_ns: Integers, consumer: Integers, arrival: Integers
) -> tuple[Integers | slice, Integers]:
    """The row of each key's first copy, in the order of keys, and how many copies there are."""
    if (keys[1:] > keys[:-1]).all():
        return slice(None), np.ones(len(keys), np.int64)
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    is_new = np.ones(len(keys), bool)
    is_new[1:] = in_order[1:] != in_order[:-1]
    if is_new.all():
        return order, np.ones(len(keys), np.int64)
    order = np.lexsort((arrival, consumer, received_ns, keys))
    begins = np.flatnonzero(is_new)
    return order[begins], np.diff(begins, append=len(keys))


def _overtaken(receives: pa.Table, later_arrivals: Mapping[Stream, int]) -> Bools:
    """Records before which a later one of their stream came."""
    if not receives.num_rows:
        return np.zeros(0, bool)
    consumer, arrival, sequence = (integers(receives, n) for n in ("consumer", "arrival", "sequence"))
    in_order = np.lexsort((arrival, consumer)) if _is_mixed(consumer, arrival) else None
    names = ("consumer", "producer", "topic", "partition")
    columns = [integers(receives, name) for name in names]
    streams = group_rows(columns if in_order is None else [column[in_order] for column in columns])
    rows = np.arange(len(sequence)) if in_order is None else in_order
    rows, _ = streams.ordered(rows)
    of_stream, _ = streams.ordered(streams.of_row)
    # Each stream counts from a level above all of the one before, so one running maximum serves all.
    level = (of_stream << SEQUENCE_BITS) + sequence[rows]
    is_late = np.zeros(len(rows), bool)
    is_late[1:] = level[1:] < np.maximum.accumulate(level)[:-1]
    none = np.iinfo(np.int64).max
    keys = zip(*(key.tolist() for key in streams.keys), strict=True)
    later = np.array([later_arrivals.get((c, p, t, q), none) for c, p, t, q in keys])
    is_late |= arrival[rows] > later[of_stream]
    overtaken = np.zeros(len(rows), bool)
    overtaken[rows] = is_late
    return overtaken


def _is_mixed(consumer: Integers, arrival: Integers) -> bool:
    return bool(((consumer[1:] == consumer[:-1]) & (arrival[1:] < arrival[:-1])).any()) or bool(
        np.count_nonzero(consumer[1:] != consumer[:-1]) >= len(np.unique(consumer))
    )
