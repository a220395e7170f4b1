"""Buckets and cells of one slice: the same as `buckets_of` and `cells_of`, in numpy (docs/decisions/0018)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.analysis.cells import COUNTS, OWN_SECONDS, TIMES
from streamgauge.analysis.groups import Bools, Groups, Integers, group_rows
from streamgauge.analysis.slice_messages import Nullable, SliceMessages
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import LEGS, MEASURE, WARM_UP

_SPLITTER = float(2**42 + 1)
"""Rounds a double to 11 significant bits, by Dekker's and Veltkamp's splitting."""
_BUCKET_SHIFT = 42
"""Bits of such a double that are always 0."""
_UNPLACED = -1

BUCKETS = pa.schema(
    [
        ("case", pa.string()),
        ("value_ns", pa.int64()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("second", pa.int32()),
        ("is_second", pa.bool_()),
        ("count", pa.int64()),
        ("beside_sum", pa.int64()),
        ("beside_squares", pa.float64()),
        ("min_ns", pa.int64()),
        ("max_ns", pa.int64()),
        ("leg", pa.string()),
    ]
)
CELLS = pa.schema(
    [
        ("case", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("second", pa.int32()),
        ("phase", pa.string()),
        *((f"{name}_second", pa.int32()) for name in OWN_SECONDS),
        *((name, pa.int64()) for name in COUNTS),
        *(
            (f"{name}_{what}", pa.int64())
            for name in TIMES
            for what in ("first_ns", "last_ns", "count", "bytes")
        ),
        ("created_count", pa.int64()),
    ]
)


def slice_buckets(messages: SliceMessages) -> pa.Table:
    """One row: a bucket of one leg, of a partition or of a second; measured messages only."""
    measured = np.flatnonzero(~messages.is_warm_up)
    if not len(measured):
        return BUCKETS.empty_table()
    rows = None if len(measured) == len(messages.sequence) else measured
    partition = _placed(messages.partition)
    places = group_rows([_among(messages.topic, rows), _among(partition, rows)])
    seconds = group_rows([_among(messages.second, rows)])
    times = {name: _among_nullable(time, rows) for name, time in _times(messages).items()}
    parts: list[pa.Table] = []
    for leg in LEGS:
        begin, end = (times[name] for name in leg.split("_to_"))
        valid = begin.valid & end.valid
        if not valid.any():
            continue
        values = _Leg.of(leg, end.values - begin.values, None if valid.all() else valid)
        parts += (_leg_buckets(messages, values, places), _leg_buckets(messages, values, seconds))
    return pa.concat_tables(parts) if parts else BUCKETS.empty_table()


def slice_cells(messages: SliceMessages) -> pa.Table:
    """One row: a cell."""
    facts, times = messages.facts, _times(messages)
    own = {name: _own_second(times[name], facts.start_ns) for name in OWN_SECONDS}
    keys = [messages.topic, _placed(messages.partition), messages.second, messages.is_warm_up]
    cells = group_rows([*keys, *(second.values for second in own.values())])
    topic, partition, second, is_warm_up, *own_seconds = cells.keys
    columns: dict[str, Any] = {
        "case": [facts.case] * cells.count,
        "topic": [facts.topic_name(number) for number in topic.tolist()],
        "partition": pa.array(partition, mask=partition == _UNPLACED),
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
    is_created = messages.output_ns.valid & ~messages.output_is_append
    columns["created_count"] = cells.sizes(is_created)
    return pa.table({f.name: pa.array(columns[f.name]).cast(f.type) for f in CELLS}, schema=CELLS)


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
    none = pa.nulls(buckets.count)
    columns: dict[str, Any] = {
        "case": _repeated(messages.facts.case, buckets.count),
        "value_ns": (code << _BUCKET_SHIFT).view(np.float64).astype(np.int64),
        "topic": none,
        "partition": none,
        "second": none,
        "is_second": np.full(buckets.count, is_second),
        "count": buckets.sizes(),
        "beside_sum": buckets.sums(leg.beside).astype(np.int64),
        "beside_squares": buckets.sums(leg.beside_squares),
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
        columns["partition"] = pa.array(partition, mask=partition == _UNPLACED)
    return pa.table({f.name: pa.array(columns[f.name]).cast(f.type) for f in BUCKETS}, schema=BUCKETS)


def _counts(messages: SliceMessages, cells: Groups) -> dict[str, Integers]:
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
        "received": cells.sizes(messages.received_count > 0),
        "lost_write": cells.sizes(is_missing & is_passed),
        "unseen": cells.sizes(is_missing & ~is_passed),
        "duplicate": cells.sums(messages.received_count - 1, is_repeated).astype(np.int64),
        "out_of_order": cells.sizes(messages.out_of_order),
        "corrupt": cells.sums(messages.corrupt_count, is_damaged).astype(np.int64),
        "unexpected": np.zeros(cells.count, np.int64),
    }


def _passed(messages: SliceMessages, rows: Integers) -> Bools:
    """Was something behind these read? By offset, or by the producer's order where that is not known."""
    facts, topic = messages.facts, messages.topic[rows]
    by_offset = _last(facts.last_offsets, topic, _placed(messages.partition)[rows])
    by_sequence = _last(facts.last_sequences, topic, messages.producer[rows])
    is_placed = messages.offset.valid[rows]
    passed: Bools = np.where(
        is_placed, by_offset > messages.offset.values[rows], by_sequence > messages.sequence[rows]
    )
    return passed


def _last(known: Mapping[tuple[int, int], int], topic: Integers, other: Integers) -> Integers:
    groups = group_rows([topic, other])
    pairs = zip(*(key.tolist() for key in groups.keys), strict=True)
    nothing = np.iinfo(np.int64).min
    return np.array([known.get((first, second), nothing) for first, second in pairs])[groups.of_row]


def _span(messages: SliceMessages, cells: Groups, name: str, time: Nullable) -> dict[str, Any]:
    valid = None if time.valid.all() else time.valid
    count = cells.sizes(valid)
    first, last = cells.extremes(time.values, valid)
    is_empty = count == 0
    return {
        f"{name}_first_ns": pa.array(first, mask=is_empty),
        f"{name}_last_ns": pa.array(last, mask=is_empty),
        f"{name}_count": count,
        f"{name}_bytes": pa.array(cells.sums(messages.size_bytes, valid).astype(np.int64), mask=is_empty),
    }


def _times(messages: SliceMessages) -> dict[str, Nullable]:
    """A failed delivery is reported some time too, but that is no acknowledgement."""
    always = np.ones(len(messages.sequence), bool)
    return {
        "intended": Nullable(messages.intended_ns, always),
        "sent": Nullable(messages.sent_ns, always),
        "acked": Nullable(messages.acked_ns.values, messages.is_acked),
        "output": messages.output_ns,
        "received": messages.received_ns,
    }


def _own_second(time: Nullable, start_ns: int) -> Nullable:
    """Where there is no time, a second before all others."""
    second = (time.values - start_ns) // NS_PER_S
    if not time.valid.all():
        before = second[time.valid].min(initial=0) - 1
        second = np.where(time.valid, second, before)
    return Nullable(second, time.valid)


def _placed(partition: Nullable) -> Integers:
    return np.where(partition.valid, partition.values, _UNPLACED)


def _among(values: Any, rows: Integers | None) -> Any:
    return values if rows is None else values[rows]


def _among_nullable(time: Nullable, rows: Integers | None) -> Nullable:
    return Nullable(_among(time.values, rows), _among(time.valid, rows))


def _repeated(word: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [word])
