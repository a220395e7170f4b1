"""What consumers read, in the order in which they read it: does a reader ever go back?

Row groups are looked at one after another, and only the last offset of every stream is carried on: it takes
as much memory for ten records as for ten billion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Bools, Integers, group_rows
from streamgauge.core.findings import MOST_EXAMPLES, Example
from streamgauge.tables.events import CORRUPT, DEALT_MARK, DRAINED_MARK, INTACT, UNEXPECTED

POLLED = [
    "consumer",
    "arrival",
    "state",
    "producer",
    "sequence",
    "topic",
    "partition",
    "offset",
    "received_ns",
]
"""Columns of `receives` that are looked at."""

_STREAM = ("consumer", "topic", "partition")
_NEVER = np.zeros(0, np.int64)
NO_DEALS: Mapping[int, Integers] = {}
_SAME_POLL_NS = 100_000_000
"""What came before a deal may be stamped after it, where both came of one poll."""


def deals_of(marks: pa.Table) -> dict[str, dict[int, Integers]]:
    """By case and consumer, from table `marks`; only of those that came to their end, of which all marks are
    there, and whose library tells."""
    found: dict[str, dict[int, Integers]] = {}
    rows = marks.to_pylist()
    ended = {(row["case"], row["number"]) for row in rows if row["mark"] == DRAINED_MARK}
    dealt: dict[tuple[str, int], list[int]] = {}
    for row in rows:
        if row["mark"] == DEALT_MARK and (row["case"], row["number"]) in ended:
            dealt.setdefault((row["case"], row["number"]), []).append(row["at_ns"])
    for (case, consumer), times in dealt.items():
        found.setdefault(case, {})[consumer] = np.sort(np.array(times, np.int64))
    return found


class Polls:
    """All records that the consumers of one case read."""

    def __init__(self, deals: Mapping[int, Integers] = NO_DEALS) -> None:
        """`deals`: by consumer when a group gave it partitions, in order; of those of which all is known."""
        self._deals = deals
        self.intact_count = 0
        self.back_count = 0
        """Records that lie before, or where, the one before them in their stream was read."""
        self.backs: list[Example] = []
        self.unasked_count = 0
        """Of these, those of members of a group that were given nothing anew since they last went back."""
        self.unasked: list[Example] = []
        self.damaged_counts = {CORRUPT: 0, UNEXPECTED: 0}
        self.damaged: dict[int, list[Example]] = {CORRUPT: [], UNEXPECTED: []}
        self.last_offsets: dict[tuple[int, int], int] = {}
        """By topic and partition: how far anybody read."""
        self.last_sequences: dict[tuple[int, int], int] = {}
        """By topic and producer."""
        self._previous: dict[tuple[int, int, int], int] = {}
        self._used_deals: dict[tuple[int, int, int], int] = {}
        """By stream: how many deals there had been when it began, or last went back."""

    def add(self, receives: pa.Table) -> None:
        """The next records; those of one consumer come in their order."""
        if not receives.num_rows:
            return
        columns = {name: integers(receives, name) for name in POLLED}
        is_intact = columns["state"] == INTACT
        self.intact_count += int(np.count_nonzero(is_intact))
        for state, known in self.damaged.items():
            is_so = columns["state"] == state
            self.damaged_counts[state] += int(np.count_nonzero(is_so))
            known.extend(_examples(columns, is_so, len(known), with_message=False))
        _raise_to(self.last_offsets, columns["topic"], columns["partition"], columns["offset"])
        if is_intact.any():
            own = {name: values[is_intact] for name, values in columns.items()}
            _raise_to(self.last_sequences, own["topic"], own["producer"], own["sequence"])
        self._look_back(columns)

    def _look_back(self, columns: dict[str, Integers]) -> None:
        arrival = columns["arrival"]
        if (arrival[1:] < arrival[:-1]).any():
            order = np.argsort(arrival, kind="stable")
            columns = {name: values[order] for name, values in columns.items()}
        streams = group_rows([columns[name] for name in _STREAM])
        offset, begins = streams.ordered(columns["offset"])
        previous = np.empty(len(offset), np.int64)
        previous[1:] = offset[:-1]
        lasts = offset[np.append(begins[1:], len(offset)) - 1]
        keys = list(zip(*(key.tolist() for key in streams.keys), strict=True))
        for stream, begin, last in zip(keys, begins.tolist(), lasts.tolist(), strict=True):
            previous[begin] = self._previous.get(stream, -1)
            self._previous[stream] = last
        # Nobody knows where a record lies that has no offset.
        is_back = (offset <= previous) & (offset >= 0)
        self.back_count += int(np.count_nonzero(is_back))
        is_unasked = self._unasked(keys, begins, streams.ordered(columns["received_ns"])[0], is_back)
        self.unasked_count += int(np.count_nonzero(is_unasked))
        if (is_back.any() and len(self.backs) < MOST_EXAMPLES) or is_unasked.any():
            own = {name: streams.ordered(values)[0] for name, values in columns.items()}
            own["other_offset"] = previous
            self.backs += _examples(own, is_back, len(self.backs))
            self.unasked += _examples(own, is_unasked, len(self.unasked))

    def _unasked(
        self, streams: Sequence[tuple[int, int, int]], begins: Integers, received: Integers, is_back: Bools
    ) -> Bools:
        """Each time that a member of a group is given partitions, it may go back once in each of them."""
        found = np.zeros(len(is_back), bool)
        if not self._deals:
            return found
        for stream, begin in zip(streams, begins.tolist(), strict=True):
            if stream not in self._used_deals:
                first_ns = int(received[begin]) - _SAME_POLL_NS
                self._used_deals[stream] = max(1, self._deals_by(stream[0], first_ns))
        for row in np.flatnonzero(is_back).tolist():
            stream = streams[int(np.searchsorted(begins, row, side="right")) - 1]
            dealt = self._deals_by(stream[0], int(received[row]))
            found[row] = stream[0] in self._deals and dealt <= self._used_deals[stream]
            self._used_deals[stream] = max(dealt, self._used_deals[stream])
        return found

    def _deals_by(self, consumer: int, at_ns: int) -> int:
        return int(np.searchsorted(self._deals.get(consumer, _NEVER), at_ns, side="right"))


def _examples(
    columns: dict[str, Integers], among: Bools, already: int, *, with_message: bool = True
) -> list[Example]:
    names = [
        "consumer",
        "arrival",
        "partition",
        "offset",
        *(["producer", "sequence"] if with_message else []),
    ]
    if "other_offset" in columns:
        names.append("other_offset")
    rows = np.flatnonzero(among)[: MOST_EXAMPLES - already]
    return [
        Example(topic=str(int(columns["topic"][row])), **{name: int(columns[name][row]) for name in names})
        for row in rows.tolist()
    ]


def _raise_to(known: dict[tuple[int, int], int], topic: Integers, other: Integers, values: Integers) -> None:
    groups = group_rows([topic, other])
    _, greatest = groups.extremes(values, None)
    for first, second, value in zip(*(key.tolist() for key in groups.keys), greatest.tolist(), strict=True):
        known[first, second] = max(value, known.get((first, second), value))
