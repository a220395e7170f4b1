"""Buckets of latencies: what percentiles, means and SDs of every scope are computed from.

They are shaped as in HdrHistogram: a value is rounded to 11 significant bits, so it lies within 1/2048
(0.049%) of the middle of its bucket; below 2048 ns it is exact. Zero and negative values have buckets too.
The first bucket of a leg in a scope also has the exact sums of all its values and of their squares, so mean
and SD come out exact whatever was merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.analysis.joining.columns import Nullable, words
from streamgauge.analysis.joining.groups import Bools, Groups, Integers, group_rows
from streamgauge.analysis.joining.messages import UNPLACED, Messages
from streamgauge.tables.column import fields
from streamgauge.tables.results import CASE, LEGS, PARTITION, SECOND, TOPIC

_SPLITTER = float(2**42 + 1)
"""Rounds a double to 11 significant bits, by Dekker's and Veltkamp's splitting. A logarithm would do too, but
is off by one at some powers of two, and slow."""
_BUCKET_SHIFT = 42
"""Bits of such a double that are always 0."""
_DIGITS = 38
_MOST_WHOLE = 10**_DIGITS - 1

BUCKETS = pa.schema(
    [
        *fields(pa.string(), "case", "scope", "topic"),
        *fields(pa.int32(), "partition", "second"),
        *fields(pa.string(), "leg"),
        *fields(pa.int64(), "value_ns", "count"),
        *fields(pa.decimal128(_DIGITS), "sum_ns", "squares_ns2"),
        *fields(pa.int64(), "min_ns", "max_ns"),
    ]
)


def buckets_of(messages: Messages) -> pa.Table:
    """One row: a bucket of one leg in one scope; measured messages only."""
    measured = np.flatnonzero(~messages.is_warm_up)
    if not len(measured):
        return BUCKETS.empty_table()
    rows = None if len(measured) == len(messages.sequence) else measured
    places = group_rows([_among(messages.topic, rows), _among(messages.place, rows)])
    seconds = group_rows([_among(messages.second, rows)])
    times = {name: _among_nullable(time, rows) for name, time in messages.times().items()}
    scopes = _Scopes(messages, places.keys[0], places.keys[1], seconds.keys[0])
    parts: list[pa.Table] = []
    for leg in LEGS:
        begin, end = (times[name] for name in leg.split("_to_"))
        valid = begin.valid & end.valid
        if valid.any():
            values = _Values.of(end.values - begin.values, None if valid.all() else valid)
            parts += scopes.tables(leg, _counted(values, places), _counted(values, seconds))
    return pa.concat_tables(parts) if parts else BUCKETS.empty_table()


def middles_ns(values_ns: Integers) -> Integers:
    """The middle of each value's bucket."""
    return _middles_of(_Values.of(values_ns, None).code)


def _middles_of(code: Integers) -> Integers:
    return (code << _BUCKET_SHIFT).view(np.float64).astype(np.int64)


@dataclass(frozen=True)
class _Values:
    """Of one leg."""

    ns: Integers
    """Of all messages; senseless where it is not valid."""
    valid: Bools | None
    code: Integers
    """A bucket's number: what is not 0 of its middle as a double. From here on only of valid ones."""
    beside: NDArray[np.float64]
    beside_squares: NDArray[np.float64]

    @classmethod
    def of(cls, ns: Integers, valid: Bools | None) -> _Values:
        exact = (ns if valid is None else ns[valid]).astype(np.float64)
        spread = exact * _SPLITTER
        middle = spread - (spread - exact)
        beside = exact - middle
        return cls(ns, valid, middle.view(np.int64) >> _BUCKET_SHIFT, beside, beside * beside)


@dataclass(frozen=True)
class _Counted:
    """Buckets of groups of messages, and what is known of each group as a whole."""

    group: Integers
    """Of each bucket; in order."""
    code: Integers
    count: Integers
    # From here on one a group that has buckets.
    present: Integers
    sums: NDArray[Any]
    squares: NDArray[Any]
    least: Integers
    greatest: Integers

    def rolled_up(self, parents: Integers) -> _Counted:
        """The same of larger groups: `parents` says in which each group is, and goes up with it."""
        buckets = group_rows([parents[self.group], self.code])
        above = parents[self.present]
        begins = np.flatnonzero(np.concatenate(([True], above[1:] != above[:-1])))
        return _Counted(
            buckets.keys[0],
            buckets.keys[1],
            buckets.sums(self.count).astype(np.int64),
            above[begins],
            np.add.reduceat(self.sums, begins),
            np.add.reduceat(self.squares, begins),
            np.minimum.reduceat(self.least, begins),
            np.maximum.reduceat(self.greatest, begins),
        )


def _counted(values: _Values, groups: Groups) -> _Counted:
    least, greatest = groups.extremes(values.ns, values.valid)
    of_row = groups.of_row if values.valid is None else groups.of_row[values.valid]
    buckets = group_rows([of_row, values.code])
    group, code = buckets.keys
    value, count = _middles_of(code).astype(object), buckets.sizes().astype(object)
    beside, squares = (
        np.array([int(total) for total in buckets.sums(distances).tolist()], object)
        for distances in (values.beside, values.beside_squares)
    )
    weighed = value * count
    begins = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    present = group[begins]
    return _Counted(
        group,
        code,
        buckets.sizes(),
        present,
        np.add.reduceat(weighed + beside, begins),
        # Σ(middle + beside)²
        np.add.reduceat(value * weighed + 2 * value * beside + squares, begins),
        least[present],
        greatest[present],
    )


@dataclass(frozen=True)
class _Scopes:
    """Where groups of messages are: of places, topic and partition; of seconds, which one."""

    messages: Messages
    topic: Integers
    partition: Integers
    second: Integers

    def tables(self, leg: str, by_place: _Counted, by_second: _Counted) -> list[pa.Table]:
        by_topic = by_place.rolled_up(self.topic)
        names = self.messages.facts.topic_names(int(self.topic.max(initial=0)))
        is_placed = self.partition[by_place.group] != UNPLACED
        found = [
            self._table(CASE, leg, by_topic.rolled_up(np.zeros(len(names), np.int64))),
            self._table(TOPIC, leg, by_topic, topic=words(by_topic.group, names)),
            self._table(
                PARTITION,
                leg,
                by_place,
                topic=words(self.topic[by_place.group], names),
                partition=self.partition[by_place.group],
            ).filter(pa.array(is_placed)),
            self._table(SECOND, leg, by_second, second=self.second[by_second.group]),
        ]
        return [table for table in found if table.num_rows]

    def _table(self, scope: str, leg: str, counted: _Counted, **where: Any) -> pa.Table:
        count = len(counted.code)
        begins = np.searchsorted(counted.group, counted.present)
        zeros, none = np.zeros(count, np.int32), pa.nulls(count)
        # Of the whole scope: only its extremes are ever asked for.
        of_group = np.searchsorted(counted.present, counted.group)
        columns = {
            "case": words(zeros, [self.messages.facts.case]),
            "scope": words(zeros, [scope]),
            "topic": none,
            "partition": none,
            "second": none,
            "leg": words(zeros, [leg]),
            "value_ns": _middles_of(counted.code),
            "count": counted.count,
            "sum_ns": _at(begins, counted.sums, count),
            "squares_ns2": _at(begins, counted.squares, count),
            "min_ns": counted.least[of_group],
            "max_ns": counted.greatest[of_group],
        } | where
        return pa.table({f.name: pa.array(columns[f.name]).cast(f.type) for f in BUCKETS}, schema=BUCKETS)


def _at(places: Integers, sums: NDArray[Any], count: int) -> pa.Array:
    """Null everywhere else, and where 38 digits do not hold a sum."""
    found: list[Decimal | None] = [None] * count
    for place, total in zip(places.tolist(), sums.tolist(), strict=True):
        found[place] = Decimal(total) if abs(total) <= _MOST_WHOLE else None
    return pa.array(found, pa.decimal128(_DIGITS))


def _among(values: Any, rows: Integers | None) -> Any:
    return values if rows is None else values[rows]


def _among_nullable(time: Nullable, rows: Integers | None) -> Nullable:
    return Nullable(_among(time.values, rows), _among(time.valid, rows))
