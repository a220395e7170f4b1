"""Does one offset hold one message, whoever tells of it: producers by acks, consumers by what they read?

A log is looked at from its beginning to its end, a stretch of offsets at a time, so that memory is bounded
by the stretch; Parquet knows which row groups reach into it. Where many reach into many stretches, they are
put in order first (verifying/place_packs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from streamgauge.analysis.feeding.slices import BEYOND, RowGroup
from streamgauge.analysis.joining.columns import SEQUENCE_BITS, integers, message_keys, nullable
from streamgauge.analysis.joining.groups import Bools, Integers, group_rows
from streamgauge.analysis.verifying.place_packs import PlacePacks, Rows
from streamgauge.core.findings import MOST_EXAMPLES, Example
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.scratch import ScratchFolder
from streamgauge.plan.roll_up_file import RollUp
from streamgauge.tables.events import INTACT, RECEIVES, SENDS

ACKED = ["producer", "sequence", "topic", "partition", "offset", "acked_ns", "error"]
READ = ["producer", "sequence", "topic", "partition", "offset", "state"]

STRETCH_ROWS = 2_000_000
_STEPS = 16
"""So finely it is guessed how the offsets of a row group lie between its least and its greatest."""
MOST_READ = 3.0
"""How often a row may be read, on average, before rows are put in order first."""
MOST_KEPT = 4_000_000
_DENSE = 4
"""Up to so many places a row, a table of all places is faster than sorting the rows."""
ROLLED_UP = -1
"""In place of the key of a message that was rolled up."""

Reading = Callable[[RowGroup, list[str]], pa.Table]
Stretch = tuple[int, int]
"""From an offset to before another."""


@dataclass
class LogPlaces:
    conflict_count: int = 0
    conflicts: list[Example] = field(default_factory=list)
    unread: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """Keys of acknowledged messages that nobody read where the ack says they are; sorted."""
    has_all_unread: bool = True
    cut_back_count: int = 0
    """Acknowledged messages whose place another one was acknowledged at, too: the log was cut back, and all
    but one of them are gone from it, also those that were read before."""


def check_places(
    groups: Sequence[RowGroup],
    read: Reading,
    stretch_rows: int = STRETCH_ROWS,
    rolled: RollUp | None = None,
    room: Path | None = None,
) -> LogPlaces:
    """`groups`: sends and receives of one case, but for what was rolled up; `room`: a folder of this host
    for about half as much as they take, if they have to be put in order."""
    # Where a fault lets everything fail there are row groups without a place, of which nothing is asked here.
    groups = [group for group in groups if not group.is_unplaced]
    found, unread = LogPlaces(), list[Integers]()
    stretches = _stretches(groups, stretch_rows)
    with _by_stretch(groups, read, stretches, stretch_rows, room) as rows_of:
        for number in range(len(stretches)):
            acked, taken = rows_of(SENDS.name, number), rows_of(RECEIVES.name, number)
            if rolled is not None:
                found.cut_back_count += _taken_from_rolled_up(rolled, acked)
                acked, taken = _with_rolled_up(rolled, acked, taken)
            unread.append(_compare(found, acked, taken))
    kept = np.concatenate([np.zeros(0, np.int64), *unread])
    kept = np.unique(kept)
    found.unread, found.has_all_unread = kept[:MOST_KEPT], len(kept) <= MOST_KEPT
    return found


@contextmanager
def _by_stretch(
    groups: Sequence[RowGroup],
    read: Reading,
    stretches: Sequence[Stretch],
    most_rows: int,
    room: Path | None,
) -> Iterator[Callable[[str, int], Rows]]:
    """Rows of a table, in the stretch of a number."""

    def of_group(group: RowGroup) -> Rows:
        return _acked(read(group, ACKED)) if group.table == SENDS.name else _read(read(group, READ))

    if _times_read(groups, stretches) <= MOST_READ:
        # One by one: nearly every row group may have a few rows of the stretch.
        yield lambda table, number: Rows.within(
            map(of_group, _reaching(groups, table, *stretches[number])), *stretches[number]
        )
        return
    scratch = ScratchFolder("_places-", room or temporary_folder())
    try:
        packs = PlacePacks(scratch.path, stretches, most_rows)
        # What lies together in the log goes into one file.
        in_order = sorted(groups, key=lambda group: group.offsets or (0, 0))
        for table in (SENDS.name, RECEIVES.name):
            packs.add(table, map(of_group, (group for group in in_order if group.table == table)))
        yield packs.rows
    finally:
        scratch.remove()


def _times_read(groups: Sequence[RowGroup], stretches: Sequence[Stretch]) -> float:
    """How often a row would be, on average, if each stretch read all row groups that reach into it."""
    if len(stretches) <= 1:
        return 1.0
    begins = np.array([low for low, _ in stretches[1:]])
    reach = np.array([group.offsets for group in groups])
    rows = np.array([group.rows for group in groups])
    first, last = np.searchsorted(begins, reach, side="right").T
    return float(((last - first + 1) * rows).sum() / max(1, rows.sum()))


def _acked(sends: pa.Table) -> Rows:
    """What an ack gives a place to; without one, or with a failure, nobody said where a message is."""
    partition, offset, acked = (nullable(sends, name) for name in ("partition", "offset", "acked_ns"))
    is_placed = partition.valid & offset.valid & acked.valid & ~sends["error"].is_valid().to_numpy()
    keys = message_keys(integers(sends, "producer"), integers(sends, "sequence"))
    return Rows(integers(sends, "topic"), partition.values, offset.values, keys).picked(is_placed)


def _read(receives: pa.Table) -> Rows:
    keys = message_keys(integers(receives, "producer"), integers(receives, "sequence"))
    topic, partition, offset = (integers(receives, name) for name in ("topic", "partition", "offset"))
    rows = Rows(topic, partition, offset, keys)
    return rows.picked((integers(receives, "state") == INTACT) & (rows.offset >= 0))


def _with_rolled_up(rolled: RollUp, acked: Rows, read: Rows) -> tuple[Rows, Rows]:
    """Where something is said to be at a place of a message that was rolled up, that one was read there, too.
    What came of these again is taken to be the same: which of them lay where is not kept."""

    def where(rows: Rows) -> Bools:
        return rolled.gone_places.hold([rows.topic, rows.partition], rows.offset)

    is_again = where(read) & rolled.gone_sends.hold(
        [read.key >> SEQUENCE_BITS], read.key & ((1 << SEQUENCE_BITS) - 1)
    )
    again = replace(read, key=np.where(is_again, ROLLED_UP, read.key))
    ghosts = [
        replace(own, key=np.full(len(own.key), ROLLED_UP))
        for own in (acked.picked(where(acked)), again.picked(where(again)))
    ]
    return acked, Rows.joined([*ghosts, again])


def _taken_from_rolled_up(rolled: RollUp, acked: Rows) -> int:
    """Places of messages that were rolled up, at which others were acknowledged, too: of those the acks that
    are left tell nothing."""
    taken = acked.picked(rolled.gone_places.hold([acked.topic, acked.partition], acked.offset))
    return group_rows([taken.topic, taken.partition, taken.offset]).count if len(taken.key) else 0


def _compare(found: LogPlaces, acked: Rows, read: Rows) -> Integers:
    """Counts places with more than one message; returns the keys of acks whose place was not read as said."""
    count = len(acked.key)
    topic, partition, offset, key = (
        np.concatenate([getattr(acked, name), getattr(read, name)])
        for name in ("topic", "partition", "offset", "key")
    )
    if not len(key):
        return np.zeros(0, np.int64)
    place, most_places = _numbered(topic, partition, offset)
    if (found_well := _without_conflicts(place, key, count, most_places)) is not None:
        return found_well
    # Stable: of one place the ack comes first, then what was read.
    order = np.argsort(place, kind="stable")
    in_order = place[order]
    is_new = np.ones(len(key), bool)
    is_new[1:] = in_order[1:] != in_order[:-1]
    group = np.cumsum(is_new) - 1
    first = np.flatnonzero(is_new)
    ordered = key[order]
    differs = ordered != ordered[first][group]
    if differs.any():
        places = np.unique(group[differs])
        found.conflict_count += len(places)
        for number in places[: MOST_EXAMPLES - len(found.conflicts)].tolist():
            row = int(order[first[number]])
            other = int(order[np.flatnonzero(differs & (group == number))[0]])
            found.conflicts.append(_conflict((topic, partition, offset), key, row, other))
        found.cut_back_count += _taken_again(group[order < count], ordered[order < count])
    read_there = np.zeros(len(first), bool)
    read_there[group[(order >= count) & ~differs]] = True
    is_unread = (order < count) & (~read_there[group] | differs)
    if differs.any():
        # Of a place with two messages both may have been read there, one after the other.
        is_unread[is_unread] = ~_read_as_said(group, ordered, is_unread, order >= count)
    unread: Integers = ordered[is_unread]
    return unread


def _without_conflicts(place: Integers, key: Integers, acked: int, places: int) -> Integers | None:
    """The same where no place has two messages, as it should be, and nothing has to be sorted; None where
    one has, or where places are too far apart for a table of them.

    The first rows, as many as `acked`, are acks; the others were read.
    """
    if places > _DENSE * len(key):
        return None
    holds = np.empty(places, np.int64)
    holds[place] = key
    if (holds[place] != key).any():
        return None
    is_read = np.zeros(places, bool)
    is_read[place[acked:]] = True
    unread: Integers = key[:acked][~is_read[place[:acked]]]
    return unread


def _taken_again(group: Integers, keys: Integers) -> int:
    """Of acks: how many messages beyond the first of each place there are."""
    messages = np.unique(np.stack([group, keys], axis=1), axis=0)
    return len(messages) - len(np.unique(group))


def _read_as_said(group: Integers, keys: Integers, acked: Bools, read: Bools) -> Bools:
    """Which of these acks are of messages that were read at just that place."""
    _, numbers = np.unique(keys, return_inverse=True)
    pairs = group * len(keys) + numbers
    found: Bools = np.isin(pairs[acked], pairs[read])
    return found


def _numbered(topic: Integers, partition: Integers, offset: Integers) -> tuple[Integers, int]:
    """One number a place, that grows with the offset within a partition; and how many there can be."""
    logs = group_rows([topic, partition])
    low = int(offset.min())
    span = int(offset.max()) - low + 1
    if logs.count * span >= 1 << 62:  # offsets with wide gaps
        distinct, offset = np.unique(offset, return_inverse=True)
        low, span = 0, len(distinct)
    return logs.of_row * span + (offset - low), logs.count * span


def _conflict(places: Sequence[Integers], keys: Integers, row: int, other: int) -> Example:
    topic, partition, offset = (int(values[row]) for values in places)
    (producer, sequence), (other_producer, other_sequence) = (_message(int(keys[n])) for n in (row, other))
    return Example(
        topic=str(topic),
        partition=partition,
        offset=offset,
        producer=producer,
        sequence=sequence,
        other_producer=other_producer,
        other_sequence=other_sequence,
    )


def _message(key: int) -> tuple[int | None, int | None]:
    """Producer and sequence; which message it was that was rolled up nobody knows any more."""
    return (None, None) if key == ROLLED_UP else (key >> SEQUENCE_BITS, key & ((1 << SEQUENCE_BITS) - 1))


def _reaching(groups: Sequence[RowGroup], table: str, low: int, high: int) -> Iterator[RowGroup]:
    for group in groups:
        first, last = group.offsets or (low, low)
        if group.table == table and first < high and last >= low:
            yield group


def _stretches(groups: Sequence[RowGroup], stretch_rows: int) -> list[Stretch]:
    """From offset to offset, with about so many rows each."""
    known = [group for group in groups if group.offsets is not None]
    rows = sum(group.rows for group in groups)
    count = -(-rows // stretch_rows)
    if count <= 1 or len(known) < len(groups):
        return [(-BEYOND, BEYOND)] if groups else []
    at = np.concatenate([np.linspace(*(group.offsets or (0, 0)), _STEPS) for group in known])
    weight = np.repeat([group.rows / _STEPS for group in known], _STEPS)
    order = np.argsort(at, kind="stable")
    so_far = np.cumsum(weight[order])
    cuts = at[order][np.searchsorted(so_far, np.arange(1, count) * (so_far[-1] / count))]
    ends = [-BEYOND, *sorted({int(cut) for cut in cuts}), BEYOND]
    return list(pairwise(ends))
