"""Table `messages` of one slice: the same as `messages`, in numpy (docs/decisions/0021).

Both are held against each other by a test over every scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from streamgauge.analysis.first_copies import FirstCopies
from streamgauge.analysis.groups import Bools, Integers
from streamgauge.analysis.slice_columns import (
    Nullable,
    integers,
    looked_up,
    message_keys,
    nullable,
    on_reference,
)
from streamgauge.analysis.slice_facts import CaseFacts, Stream
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import MEASURE, MESSAGES, WARM_UP

UNPLACED = -1


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
        warm_up: Integers = looked_up(self.producer, self.facts.warm_ups)
        return self.sequence < warm_up

    @property
    def place(self) -> Integers:
        """The partition, or UNPLACED."""
        return np.where(self.partition.valid, self.partition.values, UNPLACED)

    def times(self) -> dict[str, Nullable]:
        """A failed delivery is reported some time too, but that is no acknowledgement."""
        always = np.ones(len(self.sequence), bool)
        return {
            "intended": Nullable(self.intended_ns, always),
            "sent": Nullable(self.sent_ns, always),
            "acked": Nullable(self.acked_ns.values, self.is_acked),
            "output": self.output_ns,
            "received": self.received_ns,
        }

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
    copies = FirstCopies.of(facts, receives, later_arrivals)
    producer, sequence = integers(sends, "producer"), integers(sends, "sequence")
    keys = message_keys(producer, sequence)
    found, is_received = _matched(keys, copies.keys)
    clocks, offset, error = facts.producer_clocks, nullable(sends, "offset"), sends["error"]
    acked = nullable(sends, "acked_ns")
    is_failed = error.is_valid().to_numpy()
    topic, partition = integers(sends, "topic"), nullable(sends, "partition")
    damaged = _damaged_copies(facts, topic, partition, offset, acked.valid & ~is_failed)
    return SliceMessages(
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
        Nullable(_taken(copies.output_ns.values, found), is_received & _taken(copies.output_ns.valid, found)),
        _taken(copies.output_is_append, found),
        Nullable(_taken(copies.received_ns, found), is_received),
        np.where(is_received, _taken(copies.counts, found), 0),
        is_received & _taken(copies.is_overtaken, found),
        damaged,
        error,
        is_failed,
    )


def _matched(keys: Integers, among: Integers) -> tuple[Integers | slice, Bools]:
    """Where each key is among sorted ones, and whether it is; mostly everything came, in order."""
    if np.array_equal(keys, among):
        return slice(None), np.ones(len(keys), bool)
    found = np.searchsorted(among, keys)
    found[found == len(among)] = 0
    return found, among[found] == keys if len(among) else np.zeros(len(keys), bool)


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


def _words(numbers: Any, words: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), words)


def _arrow(column: Any, kind: pa.DataType) -> Any:
    if isinstance(column, Nullable):
        mask = None if column.valid.all() else ~column.valid
        return pa.array(column.values, mask=mask).cast(kind, safe=False)
    if isinstance(column, np.ndarray):
        return pa.array(column).cast(kind, safe=False)
    return column
