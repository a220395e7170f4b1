"""Table `messages` of one slice: the same as `messages`, in numpy (docs/decisions/0018).

Both are held against each other by a test over every scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.groups import Bools, Integers, group_rows
from streamgauge.analysis.messages import LAST_BROKER_MS
from streamgauge.analysis.slice_facts import CaseFacts, Clock, Stream
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.tables.events import BROKER_TIME_APPEND, BROKER_TIME_NONE
from streamgauge.tables.results import MEASURE, MESSAGES, WARM_UP

_SEQUENCE_BITS = 40
"""Of a message's key; the producer's number is above."""


class Nullable(NamedTuple):
    values: Integers
    valid: Bools


@dataclass(frozen=True)
class SliceMessages:
    """Columns of `messages`; topics are numbers."""

    facts: CaseFacts
    producer: Integers
    sequence: Integers
    topic: Integers
    partition: Nullable
    offset: Nullable
    size_bytes: Integers
    intended_ns: Integers
    sent_ns: Integers
    acked_ns: Nullable
    output_ns: Nullable
    output_is_append: Bools
    received_ns: Nullable
    received_count: Integers
    out_of_order: Bools
    corrupt_count: Integers
    error: pa.ChunkedArray
    is_failed: Bools

    @property
    def is_acked(self) -> Bools:
        return self.acked_ns.valid & ~self.is_failed

    @property
    def second(self) -> Integers:
        return (self.intended_ns - self.facts.start_ns) // NS_PER_S

    @property
    def is_warm_up(self) -> Bools:
        return self.sequence < looked_up(self.producer, self.facts.warm_ups)

    def table(self) -> pa.Table:
        topics = [self.facts.topic_name(number) for number in range(int(self.topic.max(initial=0)) + 1)]
        columns = {
            "case": _words(np.zeros(len(self.sequence), np.int32), [self.facts.case]),
            "phase": _words(self.is_warm_up, [MEASURE, WARM_UP]),
            "topic": _words(self.topic, topics),
            "second": self.second,
            "output_is_append": pa.array(self.output_is_append, mask=~self.output_ns.valid),
            "error": self.error,
        }
        arrays = [
            _arrow(columns[f.name] if f.name in columns else getattr(self, f.name), f.type)
            for f in MESSAGES.arrow_schema()
        ]
        fields = [f.with_type(a.type) for f, a in zip(MESSAGES.arrow_schema(), arrays, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def slice_messages(
    facts: CaseFacts, sends: pa.Table, receives: pa.Table, later_arrivals: Mapping[Stream, int]
) -> SliceMessages:
    """`receives` are the intact ones of the slice; `later_arrivals` the first ones of sequences beyond it."""
    copies = _FirstCopies.of(facts, receives, later_arrivals)
    producer, sequence = _integers(sends, "producer"), _integers(sends, "sequence")
    keys = _keys(producer, sequence)
    found, is_received = _matched(keys, copies.keys)
    clocks, offset, error = facts.producer_clocks, _nullable(sends, "offset"), sends["error"]
    acked = _nullable(sends, "acked_ns")
    is_failed = error.is_valid().to_numpy()
    topic, partition = _integers(sends, "topic"), _nullable(sends, "partition")
    damaged = _damaged_copies(facts, topic, partition, offset, acked.valid & ~is_failed)
    return SliceMessages(
        facts,
        producer,
        sequence,
        topic,
        _filled(partition, copies.partition, found, is_received),
        _filled(offset, copies.offset, found, is_received),
        _integers(sends, "size_bytes"),
        on_reference(_integers(sends, "intended_ns"), producer, clocks),
        on_reference(_integers(sends, "sent_ns"), producer, clocks),
        Nullable(on_reference(acked.values, producer, clocks), acked.valid),
        Nullable(_taken(copies.output_ns.values, found), is_received & _taken(copies.output_ns.valid, found)),
        _taken(copies.output_is_append, found),
        Nullable(_taken(copies.received_ns, found), is_received),
        np.where(is_received, _taken(copies.counts, found), 0),
        is_received & _taken(copies.is_overtaken, found),
        damaged,
        error,
        is_failed,
    )


@dataclass(frozen=True)
class _FirstCopies:
    """One row a message of which an intact copy came, by key."""

    keys: Integers
    counts: Integers
    partition: Integers
    offset: Integers
    output_ns: Nullable
    output_is_append: Bools
    received_ns: Integers
    is_overtaken: Bools

    @classmethod
    def of(cls, facts: CaseFacts, receives: pa.Table, later_arrivals: Mapping[Stream, int]) -> _FirstCopies:
        consumer, broker_time = _integers(receives, "consumer"), _integers(receives, "broker_time")
        keys = _keys(_integers(receives, "producer"), _integers(receives, "sequence"))
        received_ns = on_reference(_integers(receives, "received_ns"), consumer, facts.consumer_clocks)
        first, counts = _first_of_each(keys, received_ns, consumer, _integers(receives, "arrival"))
        output_ns = _output_ns(facts, receives, consumer, broker_time)
        return cls(
            keys[first],
            counts,
            _integers(receives, "partition")[first],
            _integers(receives, "offset")[first],
            Nullable(output_ns.values[first], output_ns.valid[first]),
            (broker_time == BROKER_TIME_APPEND)[first],
            received_ns[first],
            _overtaken(receives, later_arrivals)[first],
        )


def on_reference(at_ns: Integers, numbers: Integers, clocks: Mapping[int, Clock]) -> Integers:
    """Times of agents on the reference clock."""
    if not any(clock.offset_ns or clock.drift for clock in clocks.values()):
        return at_ns
    offset_ns = looked_up(numbers, {number: clock.offset_ns for number, clock in clocks.items()})
    if not any(clock.drift for clock in clocks.values()):
        return at_ns + offset_ns
    anchor_ns = looked_up(numbers, {number: clock.anchor_ns for number, clock in clocks.items()})
    drift = looked_up(numbers, {number: clock.drift for number, clock in clocks.items()}, np.float64)
    moved_ns = (at_ns - anchor_ns) * drift
    # Halves away from zero, as SQL rounds.
    return at_ns + offset_ns + np.trunc(moved_ns + np.copysign(0.5, moved_ns)).astype(np.int64)


def looked_up(numbers: Integers, values: Mapping[int, Any], kind: Any = np.int64) -> Any:
    """The value of each number, 0 where there is none."""
    table = np.zeros(max([int(numbers.max(initial=0)), *values]) + 1, kind)
    for number, value in values.items():
        table[number] = value
    return table[numbers]


def _matched(keys: Integers, among: Integers) -> tuple[Integers | slice, Bools]:
    """Where each key is among sorted ones, and whether it is; mostly everything came, in order."""
    if np.array_equal(keys, among):
        return slice(None), np.ones(len(keys), bool)
    found = np.searchsorted(among, keys)
    found[found == len(among)] = 0
    return found, among[found] == keys if len(among) else np.zeros(len(keys), bool)


def _output_ns(facts: CaseFacts, receives: pa.Table, consumer: Integers, broker_time: Integers) -> Nullable:
    """A broker's stamp is wall time; without the consumer's clock reading it cannot be placed."""
    stamp_ms = _nullable(receives, "broker_ms")
    clocks = {number: c for number, c in facts.consumer_clocks.items() if c.wall_offset_ns is not None}
    is_placed = looked_up(consumer, dict.fromkeys(clocks, True), np.bool_)
    valid = stamp_ms.valid & is_placed & (broker_time != BROKER_TIME_NONE)
    valid &= (stamp_ms.values >= 0) & (stamp_ms.values <= LAST_BROKER_MS)
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
    consumer, arrival, sequence = (_integers(receives, n) for n in ("consumer", "arrival", "sequence"))
    in_order = np.lexsort((arrival, consumer)) if _is_mixed(consumer, arrival) else None
    names = ("consumer", "producer", "topic", "partition")
    columns = [_integers(receives, name) for name in names]
    streams = group_rows(columns if in_order is None else [column[in_order] for column in columns])
    rows = np.arange(len(sequence)) if in_order is None else in_order
    rows, _ = streams.ordered(rows)
    of_stream, _ = streams.ordered(streams.of_row)
    # Each stream counts from a level above all of the one before, so one running maximum serves all.
    level = (of_stream << _SEQUENCE_BITS) + sequence[rows]
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


def _damaged_copies(
    facts: CaseFacts, topic: Integers, partition: Nullable, offset: Nullable, is_acked: Bools
) -> Integers:
    """At the place of an acknowledged send, a record that is not ours is that send, damaged."""
    copies = np.zeros(len(topic), np.int64)
    if facts.damaged:
        offsets = np.array([place[2] for place in facts.damaged])
        maybe = is_acked & partition.valid & offset.valid & np.isin(offset.values, offsets)
        for row in np.flatnonzero(maybe).tolist():
            place = (int(topic[row]), int(partition.values[row]), int(offset.values[row]))
            copies[row] = facts.damaged.get(place, 0)
    return copies


def _filled(sent: Nullable, received: Integers, found: Integers | slice, is_received: Bools) -> Nullable:
    if sent.valid.all():
        return sent
    return Nullable(np.where(sent.valid, sent.values, _taken(received, found)), sent.valid | is_received)


def _taken(values: Any, found: Integers | slice) -> Any:
    if isinstance(found, slice) or len(values):
        return values[found]
    return np.zeros(len(found), values.dtype)


def _keys(producer: Integers, sequence: Integers) -> Integers:
    return (producer << _SEQUENCE_BITS) + sequence


def _integers(table: pa.Table, name: str) -> Integers:
    values: Integers = table[name].to_numpy().astype(np.int64, copy=False)
    return values


def _nullable(table: pa.Table, name: str) -> Nullable:
    column = table[name]
    if not column.null_count:
        return Nullable(_integers(table, name), np.ones(table.num_rows, bool))
    values = pc.fill_null(column, 0).to_numpy().astype(np.int64, copy=False)
    return Nullable(values, column.is_valid().to_numpy())


def _words(numbers: Any, words: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), words)


def _arrow(column: Any, kind: pa.DataType) -> Any:
    if isinstance(column, Nullable):
        mask = None if column.valid.all() else ~column.valid
        return pa.array(column.values, mask=mask).cast(kind, safe=False)
    if isinstance(column, np.ndarray):
        return pa.array(column).cast(kind, safe=False)
    return column
