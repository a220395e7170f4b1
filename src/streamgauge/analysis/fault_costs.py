"""What messages cost each fault of a case: hit are those that were late, acknowledged and lost, reported as
failed, or of which nothing was heard again.

A message is charged to the last fault that had begun when it would have become late: what was due just before
a leader dies may be lost with it, and what one fault holds up until after the next is still the first one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import (
    Nullable,
    aborted_as_planned,
    integers,
    message_keys,
    nullable,
)
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.analysis.outages import Hits, Outages
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.fault_figures import FaultFigures
from streamgauge.plan.cases import Case
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.tables.faults import hears_of_messages

_MISSING_NS = NS_PER_S
"""Where nobody knows what is late: after so long a message is missed."""
NO_KEYS = np.zeros(0, np.int64)


def arrived(part: pa.Table) -> Nullable:
    """When a message was through: received; without consumers, acknowledged."""
    received = nullable(part, "received_ns")
    if received.valid.any():
        return Nullable(received.values, received.valid)
    acked = nullable(part, "acked_ns")
    return Nullable(acked.values, acked.valid & ~part["error"].is_valid().to_numpy())


@dataclass(frozen=True)
class Heard:
    """Who tells what became of messages."""

    by_consumers: bool = True
    by_anybody: bool = True


def heard_of(case: Case) -> Heard:
    load, has_consumers = case.load, case.load.consumer_count > 0
    by_acks = hears_of_messages(completions=load.completions, acks=load.acks, has_consumers=has_consumers)
    return Heard(has_consumers, has_consumers or by_acks)


class _Cost:
    """Of one fault."""

    def __init__(self) -> None:
        self.late = self.failed = self.lost = self.unanswered = self.written_again = self.read_again = 0
        self.longest_ns: int | None = None
        self.outages = Outages()


class _Fates:
    """What became of messages, one place each."""

    def __init__(self, part: pa.Table, heard: Heard, late_ns: int | None) -> None:
        self.intended = integers(part, "intended_ns")
        self.came = nullable(part, "received_ns") if heard.by_consumers else arrived(part)
        self.due_by = self.intended + (_MISSING_NS if late_ns is None else late_ns)
        self.told = nullable(part, "acked_ns")
        self.copies = integers(part, "received_count")
        has_error = part["error"].is_valid().to_numpy()
        is_there = (self.copies > 0) | (integers(part, "corrupt_count") > 0)
        # What its producer aborted because it was to, no fault did.
        self.is_failed = has_error & ~aborted_as_planned(part["error"])
        self.is_lost = self.told.valid & ~has_error & ~is_there & heard.by_consumers
        self.is_unanswered = ~self.told.valid & ~has_error & ~is_there & heard.by_anybody
        self.took = self.came.values - self.intended
        self.is_late = self.came.valid & (late_ns is not None) & (self.took > (late_ns or 0))

    @property
    def is_hit(self) -> Bools:
        found: Bools = self.is_late | self.is_lost | self.is_failed | self.is_unanswered
        return found

    def hits(self, among: Bools) -> Hits:
        """One that failed is felt when it is told; until then it was not there either."""
        rows = among & self.is_hit
        due_by, is_told = self.due_by[rows], (self.is_failed & self.told.valid)[rows]
        told = np.where(is_told, self.told.values[rows], due_by)
        came = np.where(self.is_late[rows], self.came.values[rows], due_by)
        felt = np.where(is_told & ~self.is_late[rows], told, due_by)
        return Hits(np.minimum(due_by, told), felt, np.maximum(told, came), self.intended[rows])


class FaultCosts:
    """Of the faults of one case. One row: a message, or what was due to one of many who get it."""

    def __init__(
        self,
        faults: Sequence[FaultRecord],
        late_ms: float | None,
        heard: Heard = Heard(),  # noqa: B008
        written_again: Integers = NO_KEYS,
    ) -> None:
        self._faults, self._late_ms, self._heard, self._written_again = faults, late_ms, heard, written_again
        self._late_ns = None if late_ms is None else int(late_ms * NS_PER_MS)
        self._begun = sorted(
            (record.charged_from_ns, number)
            for number, record in enumerate(faults)
            if record.charged_from_ns is not None
        )
        self._costs = [_Cost() for _ in faults]

    def add(self, part: pa.Table) -> None:
        """`part`: the columns that are looked at; of a case once, or piece by piece."""
        if not self._begun or not part.num_rows:
            return
        fates = _Fates(part, self._heard, self._late_ns)
        owner = np.searchsorted([began for began, _ in self._begun], fates.due_by, side="right") - 1
        for place, (_, number) in enumerate(self._begun):
            own = owner == place
            if own.any():
                self._charge(self._costs[number], fates, own)
                self._count_copies(self._costs[number], part, fates.copies, own)

    def _charge(self, cost: _Cost, fates: _Fates, own: Bools) -> None:
        cost.late += int(np.count_nonzero(own & fates.is_late))
        cost.failed += int(np.count_nonzero(own & fates.is_failed))
        cost.lost += int(np.count_nonzero(own & fates.is_lost))
        cost.unanswered += int(np.count_nonzero(own & fates.is_unanswered))
        here = own & fates.came.valid
        if self._late_ns is not None and here.any():
            cost.longest_ns = max(cost.longest_ns or 0, int(fates.took[here].max()))
        cost.outages.see(fates.intended[own])
        cost.outages.add(fates.hits(own))

    def _count_copies(self, cost: _Cost, part: pa.Table, copies: Integers, own: Bools) -> None:
        """Written twice is the log's doing, read again a consumer's; without offsets it is the latter."""
        rows = own & (copies > 1)
        if not rows.any():
            return
        written = 0
        if len(self._written_again):
            keys = message_keys(integers(part, "producer")[rows], integers(part, "sequence")[rows])
            ends = (np.searchsorted(self._written_again, keys, side=side) for side in ("right", "left"))
            written = int(np.subtract(*ends).sum())
        cost.written_again += written
        cost.read_again += int((copies[rows] - 1).sum()) - written

    def figures(self, start_ns: int) -> list[FaultFigures]:
        return [
            self._figures(record, cost, start_ns)
            for record, cost in zip(self._faults, self._costs, strict=True)
        ]

    def _figures(self, record: FaultRecord, cost: _Cost, start_ns: int) -> FaultFigures:
        began, since = record.began_ns, record.counts_from_ns or record.began_ns
        until_ns = (record.ended_ns or record.done_ns or began or 0) + (self._late_ns or _MISSING_NS)
        outage, is_recovered = cost.outages.first(until_ns), cost.outages.is_over
        return FaultFigures(
            kind=record.kind,
            target=record.target,
            problem=record.problem,
            began_s=_seconds(began, start_ns),
            ended_s=_seconds(record.ended_ns, start_ns),
            late_over_ms=self._late_ms,
            # What was due before the fault may be late because of it.
            detect_s=None if since is None or outage is None else _felt(outage.felt_ns, since),
            recover_s=_felt(outage.over_ns, since)
            if is_recovered and since is not None and outage is not None
            else None,
            is_recovered=is_recovered,
            late_count=cost.late,
            longest_ms=None if cost.longest_ns is None else cost.longest_ns / NS_PER_MS,
            failed_count=cost.failed,
            lost_count=cost.lost,
            unanswered_count=cost.unanswered,
            later_count=cost.outages.later_count(outage),
            duplicate_count=cost.written_again,
            redelivered_count=cost.read_again,
            effects=record.effects,
        )


def _felt(felt_ns: int, began_ns: int) -> float:
    return max(0.0, (felt_ns - began_ns) / NS_PER_S)


def _seconds(at_ns: int | None, since_ns: int) -> float | None:
    return None if at_ns is None else (at_ns - since_ns) / NS_PER_S
