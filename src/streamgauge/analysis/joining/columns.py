"""Columns of events as arrays, and times on the reference clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.facts import Clock
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.tables.column import fields
from streamgauge.tables.events import PLANNED_ABORT

PARTITION_KEY = [*fields(pa.string(), "case"), *fields(pa.int32(), "topic", "partition")]
"""What a row about a partition begins with."""

SEQUENCE_BITS = 40
"""Of a message's key; the producer's number is above."""


class Nullable(NamedTuple):
    values: Integers
    valid: Bools


def integers(table: pa.Table, name: str) -> Integers:
    values: Integers = table[name].to_numpy().astype(np.int64, copy=False)
    return values


def nullable(table: pa.Table, name: str) -> Nullable:
    column = table[name]
    if not column.null_count:
        return Nullable(integers(table, name), np.ones(table.num_rows, bool))
    values = pc.fill_null(column, 0).to_numpy().astype(np.int64, copy=False)
    return Nullable(values, column.is_valid().to_numpy())


def message_keys(producer: Integers, sequence: Integers) -> Integers:
    return (producer << SEQUENCE_BITS) + sequence


def on_reference(at_ns: Integers, numbers: Integers, clocks: Mapping[int, Clock]) -> Integers:
    """Times of agents on the reference clock."""
    if not any(clock.offset_ns or clock.drift for clock in clocks.values()):
        return at_ns
    offset_ns = looked_up(numbers, {number: clock.offset_ns for number, clock in clocks.items()})
    on_time: Integers = at_ns + offset_ns
    if not any(clock.drift for clock in clocks.values()):
        return on_time
    anchor_ns = looked_up(numbers, {number: clock.anchor_ns for number, clock in clocks.items()})
    drift = looked_up(numbers, {number: clock.drift for number, clock in clocks.items()}, np.float64)
    moved_ns = (at_ns - anchor_ns) * drift
    # Halves away from zero.
    on_time += np.trunc(moved_ns + np.copysign(0.5, moved_ns)).astype(np.int64)
    return on_time


def looked_up(numbers: Integers, values: Mapping[int, Any], kind: Any = np.int64) -> Any:
    """The value of each number, 0 where there is none."""
    table = np.zeros(max([int(numbers.max(initial=0)), *values]) + 1, kind)
    for number, value in values.items():
        table[number] = value
    return table[numbers]


def words(numbers: Any, names: list[str]) -> pa.DictionaryArray:
    """The name of each number."""
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), names)


def arrow(column: Any, kind: pa.DataType) -> Any:
    """A column as a result table has it; words stay as short as they are."""
    if isinstance(column, Nullable):
        mask = None if column.valid.all() else ~column.valid
        return pa.array(column.values, mask=mask).cast(kind, safe=False)
    if isinstance(column, np.ndarray):
        return pa.array(column).cast(kind, safe=False)
    return column


def aborted_as_planned(error: pa.ChunkedArray) -> Bools:
    """Of messages: whose transaction was aborted on purpose."""
    if error.null_count == len(error):
        return np.zeros(len(error), bool)
    found: Bools = pc.fill_null(pc.equal(error, PLANNED_ABORT), False).to_numpy()
    return found
