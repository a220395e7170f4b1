"""Table `messages`: what was sent, joined with what was received.

A message is known by its producer and sequence. Damaged records have no header to trust, so they are matched
by their place (topic, partition, offset) in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import (
    Nullable,
    aborted_as_planned,
    arrow,
    integers,
    looked_up,
    message_keys,
    nullable,
    on_reference,
    words,
)
from streamgauge.analysis.joining.facts import CaseFacts, Stream
from streamgauge.analysis.joining.first_copies import FirstCopies
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import MEASURE, MESSAGES, WARM_UP

UNPLACED = -1

_OF_ALL = ("facts", "unsent_keys")
"""What `Messages` has beside its columns."""
DAMAGED_RECORDS = "damaged_records"
"""A column that sends may bring: how many records at their place are damaged or not ours."""


@dataclass(frozen=True)
class Messages:
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
    broker_ns: Nullable
    broker_is_append: Bools
    received_ns: Nullable
    received_count: Integers
    out_of_order: Bools
    corrupt_count: Integers
    error: pa.ChunkedArray
    is_failed: Bools
    is_aborted: Bools
    """Its transaction was aborted as planned: neither acknowledged nor failed."""
    unsent_keys: Integers
    """Of records that belong to none of these messages."""

    @property
    def is_acked(self) -> Bools:
        return self.acked_ns.valid & ~self.is_failed & ~self.is_aborted

    @property
    def second(self) -> Integers:
        return (self.intended_ns - self.facts.start_ns) // NS_PER_S

    @property
    def is_warm_up(self) -> Bools:
        warm_up: Integers = looked_up(self.producer, self.facts.warm_ups)
        return self.sequence < warm_up

    @property
    def place(self) -> Integers:
        """The partition, or UNPLACED."""
        return np.where(self.partition.valid, self.partition.values, UNPLACED)

    def among(self, rows: Bools) -> Messages:
        """Some of them; what was decided of each stays as it is."""

        def picked(value: Any) -> Any:
            if isinstance(value, Nullable):
                return Nullable(value.values[rows], value.valid[rows])
            return value.filter(pa.array(rows)) if isinstance(value, pa.ChunkedArray) else value[rows]

        own = {name: picked(value) for name, value in vars(self).items() if name not in _OF_ALL}
        return replace(self, **own, unsent_keys=self.unsent_keys[:0])

    def times(self) -> dict[str, Nullable]:
        """A failed delivery is reported some time too, but that is no acknowledgement."""
        always = np.ones(len(self.sequence), bool)
        return {
            "intended": Nullable(self.intended_ns, always),
            "sent": Nullable(self.sent_ns, always),
            "acked": Nullable(self.acked_ns.values, self.is_acked),
            "broker": self.broker_ns,
            "received": self.received_ns,
        }

    def table(self) -> pa.Table:
        topics = self.facts.topic_names(int(self.topic.max(initial=0)))
        columns = {
            "case": words(np.zeros(len(self.sequence), np.int32), [self.facts.case]),
            "phase": words(self.is_warm_up, [MEASURE, WARM_UP]),
            "topic": words(self.topic, topics),
            "second": self.second,
            "broker_is_append": pa.array(self.broker_is_append, mask=~self.broker_ns.valid),
            "error": self.error,
        }
        arrays = [
            arrow(columns[f.name] if f.name in columns else getattr(self, f.name), f.type)
            for f in MESSAGES.arrow_schema()
        ]
        fields = [f.with_type(a.type) for f, a in zip(MESSAGES.arrow_schema(), arrays, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def join_messages(
    facts: CaseFacts, sends: pa.Table, receives: pa.Table, later_arrivals: Mapping[Stream, int]
) -> Messages:
    """`receives` are intact ones; `later_arrivals` the first ones of sequences that are not among them."""
    copies = FirstCopies.of(facts, receives, later_arrivals)
    producer, sequence = integers(sends, "producer"), integers(sends, "sequence")
    keys = message_keys(producer, sequence)
    found, is_received = _matched(keys, copies.keys)
    clocks, offset, error = facts.producer_clocks, nullable(sends, "offset"), sends["error"]
    acked = nullable(sends, "acked_ns")
    has_error, is_aborted = error.is_valid().to_numpy(), aborted_as_planned(error)
    topic, partition = integers(sends, "topic"), nullable(sends, "partition")
    damaged = _damaged_records(facts, sends, topic, partition, offset)
    # At the place of an acknowledged send, a record that is not ours is that send, damaged.
    damaged = np.where(acked.valid & ~has_error, damaged, 0)
    return Messages(
        facts,
        producer,
        sequence,
        topic,
        _filled(partition, copies.partition, found, is_received),
        _filled(offset, copies.offset, found, is_received),
        integers(sends, "size_bytes"),
        on_reference(integers(sends, "intended_ns"), producer, clocks),
        on_reference(integers(sends, "sent_ns"), producer, clocks),
        Nullable(on_reference(acked.values, producer, clocks), acked.valid),
        Nullable(_taken(copies.broker_ns.values, found), is_received & _taken(copies.broker_ns.valid, found)),
        _taken(copies.broker_is_append, found),
        Nullable(_taken(copies.received_ns, found), is_received),
        np.where(is_received, _taken(copies.counts, found), 0),
        is_received & _taken(copies.is_overtaken, found),
        damaged,
        error,
        has_error & ~is_aborted,
        is_aborted,
        _unsent(copies.keys, found, is_received),
    )


def _matched(keys: Integers, among: Integers) -> tuple[Integers | slice, Bools]:
    """Where each key is among sorted ones, and whether it is; mostly everything came, in order."""
    if np.array_equal(keys, among):
        return slice(None), np.ones(len(keys), bool)
    found = np.searchsorted(among, keys)
    found[found == len(among)] = 0
    return found, among[found] == keys if len(among) else np.zeros(len(keys), bool)


def _unsent(keys: Integers, found: Integers | slice, is_received: Bools) -> Integers:
    if isinstance(found, slice):
        return keys[:0]
    is_sent = np.zeros(len(keys), bool)
    is_sent[found[is_received]] = True
    return keys[~is_sent]


def _damaged_records(
    facts: CaseFacts, sends: pa.Table, topic: Integers, partition: Nullable, offset: Nullable
) -> Integers:
    """At the place of each send."""
    if DAMAGED_RECORDS in sends.column_names:
        return nullable(sends, DAMAGED_RECORDS).values
    records = np.zeros(len(topic), np.int64)
    if facts.damaged:
        offsets = np.array([place[2] for place in facts.damaged])
        maybe = partition.valid & offset.valid & np.isin(offset.values, offsets)
        for row in np.flatnonzero(maybe).tolist():
            place = (int(topic[row]), int(partition.values[row]), int(offset.values[row]))
            records[row] = facts.damaged.get(place, 0)
    return records


def _filled(sent: Nullable, received: Integers, found: Integers | slice, is_received: Bools) -> Nullable:
    if sent.valid.all():
        return sent
    return Nullable(np.where(sent.valid, sent.values, _taken(received, found)), sent.valid | is_received)


def _taken(values: Any, found: Integers | slice) -> Any:
    if isinstance(found, slice) or len(values):
        return values[found]
    return np.zeros(len(found), values.dtype)
