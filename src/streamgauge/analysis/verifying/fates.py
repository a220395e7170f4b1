"""What became of messages, read off table `messages` a row group at a time.

The kernel has decided it; here are the places to look at.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.cells import is_passed
from streamgauge.analysis.joining.columns import integers, message_keys, nullable
from streamgauge.analysis.joining.facts import order_stands_in
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.analysis.verifying.polls import Polls
from streamgauge.core.findings import MOST_EXAMPLES, Example, FindingKind
from streamgauge.plan.cases import Case
from streamgauge.tables.events import ABORTED

LOOKED_AT = [
    "case",
    "producer",
    "sequence",
    "topic",
    "partition",
    "offset",
    "acked_ns",
    "received_count",
    "out_of_order",
    "corrupt_count",
    "error",
]
MOST_REPEATED = 4_000_000
"""Of messages that came more than once so many, and those of a part more, are looked up again."""


class Fates:
    """Of the messages of one case."""

    def __init__(self, case: Case, polls: Polls, unread: Integers, *, is_whole: bool) -> None:
        """`unread`: sorted keys of messages that nobody read where their ack says they are."""
        self._numbers = {name: number for number, name in enumerate(case.topics)}
        self._consumers, self._polls, self._unread = case.load.consumer_count, polls, unread
        self._has_order = order_stands_in(case, is_whole=is_whole)
        self.acked_count = self.copies_count = 0
        self.counts = dict.fromkeys(FindingKind, 0)
        self.examples: dict[FindingKind, list[Example]] = {kind: [] for kind in FindingKind}
        self._repeated: list[Integers] = []
        self.has_all_repeated = True

    @property
    def repeated(self) -> Integers:
        """Sorted keys of messages that were received more than once."""
        return np.sort(np.concatenate([np.zeros(0, np.int64), *self._repeated]))

    def add(self, messages: pa.Table) -> None:
        if not messages.num_rows:
            return
        copies = integers(messages, "received_count")
        error = messages["error"]
        is_failed = error.is_valid().to_numpy()
        is_acked = nullable(messages, "acked_ns").valid & ~is_failed
        keys = message_keys(integers(messages, "producer"), integers(messages, "sequence"))
        self.acked_count += int(np.count_nonzero(is_acked))
        self.copies_count += int(copies.sum())
        is_missing = is_acked & (copies == 0) & (integers(messages, "corrupt_count") == 0)
        is_missing &= self._consumers > 0
        if is_missing.any():
            is_passed = self._passed(messages, is_missing)
            self._note(FindingKind.LOST_WRITE, messages, is_missing & is_passed)
            self._note(FindingKind.UNSEEN, messages, is_missing & ~is_passed)
        self._note(FindingKind.REORDERED, messages, messages["out_of_order"].to_numpy())
        if is_failed.any():
            aborted = pc.fill_null(pc.starts_with(error, ABORTED), False).to_numpy()
            self._note(FindingKind.ABORTED_READ, messages, aborted & (copies > 0))
        if len(self._unread):
            moved = is_acked & (copies > 0) & _among(keys, self._unread)
            self._note(FindingKind.INCONSISTENT_OFFSETS, messages, moved)
        is_repeated = copies > 1
        if is_repeated.any():
            self.has_all_repeated &= sum(map(len, self._repeated)) < MOST_REPEATED
            if self.has_all_repeated:
                self._repeated.append(keys[is_repeated])

    def _passed(self, messages: pa.Table, rows: Bools) -> Bools:
        found = np.zeros(messages.num_rows, bool)
        missing = messages.filter(pa.array(rows))
        found[rows] = is_passed(
            self._polls.last_offsets,
            self._polls.last_sequences if self._has_order else {},
            topic=np.array([self._numbers.get(name, -1) for name in missing["topic"].to_pylist()]),
            place=nullable(missing, "partition").values,
            offset=nullable(missing, "offset"),
            producer=integers(missing, "producer"),
            sequence=integers(missing, "sequence"),
        )
        return found

    def _note(self, kind: FindingKind, messages: pa.Table, among: Bools) -> None:
        count = int(np.count_nonzero(among))
        self.counts[kind] += count
        room = MOST_EXAMPLES - len(self.examples[kind])
        if count and room > 0:
            rows = messages.take(pa.array(np.flatnonzero(among)[:room]))
            names = ["topic", "partition", "offset", "producer", "sequence"]
            self.examples[kind] += [Example(**row) for row in rows.select(names).to_pylist()]


def _among(keys: Integers, known: Integers) -> Bools:
    at = np.searchsorted(known, keys)
    at[at == len(known)] = 0
    found: Bools = known[at] == keys
    return found
