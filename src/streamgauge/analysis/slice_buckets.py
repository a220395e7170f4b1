"""Buckets of one slice: the same as `buckets_of`, in numpy (docs/decisions/0021)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.analysis.groups import Bools, Groups, Integers, group_rows
from streamgauge.analysis.slice_columns import Nullable
from streamgauge.analysis.slice_messages import UNPLACED, SliceMessages
from streamgauge.analysis.whole_numbers import DIGITS
from streamgauge.tables.results import LEGS

_SPLITTER = float(2**42 + 1)
"""Rounds a double to 11 significant bits, by Dekker's and Veltkamp's splitting."""
_BUCKET_SHIFT = 42
"""Bits of such a double that are always 0."""
_MOST_WHOLE = 10**DIGITS - 1

BUCKETS = pa.schema(
    [
        ("case", pa.string()),
        ("value_ns", pa.int64()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("second", pa.int32()),
        ("is_second", pa.bool_()),
        ("count", pa.int64()),
        ("sum_ns", pa.decimal128(DIGITS)),
        ("squares_ns2", pa.decimal128(DIGITS)),
        ("min_ns", pa.int64()),
        ("max_ns", pa.int64()),
        ("leg", pa.string()),
    ]
)


def slice_buckets(messages: SliceMessages) -> pa.Table:
    """One row: a bucket of one leg, of a partition or of a second; measured messages only."""
    measured = np.flatnonzero(~messages.is_warm_up)
    if not len(measured):
        return BUCKETS.empty_table()
    rows = None if len(measured) == len(messages.sequence) else measured
    partition = messages.place
    places = group_rows([_among(messages.topic, rows), _among(partition, rows)])
    seconds = group_rows([_among(messages.second, rows)])
    times = {name: _among_nullable(time, rows) for name, time in messages.times().items()}
    parts: list[pa.Table] = []
    for leg in LEGS:
        begin, end = (times[name] for name in leg.split("_to_"))
        valid = begin.valid & end.valid
        if not valid.any():
            continue
        values = _Leg.of(leg, end.values - begin.values, None if valid.all() else valid)
        parts += (_leg_buckets(messages, values, places), _leg_buckets(messages, values, seconds))
    return pa.concat_tables(parts) if parts else BUCKETS.empty_table()


@dataclass(frozen=True)
class _Leg:
    name: str
    ns: Integers
    """Of all messages; senseless where it is not valid."""
    valid: Bools | None
    code: Integers
    """A bucket's number: what is not 0 of its middle as a double. From here on only of valid ones."""
    beside: NDArray[np.float64]
    beside_squares: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, ns: Integers, valid: Bools | None) -> _Leg:
        exact = (ns if valid is None else ns[valid]).astype(np.float64)
        spread = exact * _SPLITTER
        middle = spread - (spread - exact)
        beside = exact - middle
        return cls(name, ns, valid, middle.view(np.int64) >> _BUCKET_SHIFT, beside, beside * beside)


def _leg_buckets(messages: SliceMessages, leg: _Leg, places: Groups) -> pa.Table:
    is_second = len(places.keys) == 1
    least, greatest = places.extremes(leg.ns, leg.valid)
    of_row = places.of_row if leg.valid is None else places.of_row[leg.valid]
    buckets = group_rows([of_row, leg.code])
    place, code = buckets.keys
    value_ns = (code << _BUCKET_SHIFT).view(np.float64).astype(np.int64)
    none = pa.nulls(buckets.count)
    columns: dict[str, Any] = {
        "case": _repeated(messages.facts.case, buckets.count),
        "value_ns": value_ns,
        "topic": none,
        "partition": none,
        "second": none,
        "is_second": np.full(buckets.count, is_second),
        "count": buckets.sizes(),
        **_moments(leg, buckets, value_ns),
        # Of the whole partition or second: only their extremes are ever asked for.
        "min_ns": least[place],
        "max_ns": greatest[place],
        "leg": _repeated(leg.name, buckets.count),
    }
    if is_second:
        columns["second"] = places.keys[0][place]
    else:
        topic, partition = (key[place] for key in places.keys)
        names = [messages.facts.topic_name(number) for number in range(int(topic.max()) + 1)]
        columns["topic"] = pa.DictionaryArray.from_arrays(pa.array(topic), names)
        columns["partition"] = pa.array(partition, mask=partition == UNPLACED)
    return pa.table({f.name: pa.array(columns[f.name]).cast(f.type) for f in BUCKETS}, schema=BUCKETS)


def _moments(leg: _Leg, buckets: Groups, value_ns: Integers) -> dict[str, Any]:
    """Exact sums of values and squares, those of a whole partition or second in its first bucket."""
    value, count = value_ns.astype(object), buckets.sizes().astype(object)
    beside = np.array([int(total) for total in buckets.sums(leg.beside).tolist()], object)
    squares = np.array([int(total) for total in buckets.sums(leg.beside_squares).tolist()], object)
    weighed = value * count
    whole = value * weighed + 2 * value * beside + squares
    whole[np.abs(whole) > _MOST_WHOLE] = 0
    place = buckets.keys[0]
    begins = np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1])))
    return {
        "sum_ns": _at(begins, np.add.reduceat(weighed + beside, begins), buckets.count),
        "squares_ns2": _at(begins, np.add.reduceat(whole, begins), buckets.count),
    }


def _at(places: Integers, sums: NDArray[Any], count: int) -> pa.Array:
    """Null everywhere else, and where 38 digits do not hold a sum."""
    found: list[Decimal | None] = [None] * count
    for place, total in zip(places.tolist(), sums.tolist(), strict=True):
        found[place] = Decimal(total) if abs(total) <= _MOST_WHOLE else None
    return pa.array(found, pa.decimal128(DIGITS))


def _among(values: Any, rows: Integers | None) -> Any:
    return values if rows is None else values[rows]


def _among_nullable(time: Nullable, rows: Integers | None) -> Nullable:
    return Nullable(_among(time.values, rows), _among(time.valid, rows))


def _repeated(word: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [word])
