"""What each fault cost: when it was felt, when that was over, and which messages paid for it.

A message is *late* when it took longer than usual in the minute before the first fault: ten times the median,
or twice the 99th percentile, whichever is more. It is charged to the last fault that had begun when it would
have become late: what was due just before a leader dies may be lost with it, and what one fault holds up
until after the next is still the first one's.
Table `messages` goes by twice, in row groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from streamgauge.analysis.joining.columns import Nullable, aborted_as_planned, integers, nullable
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.analysis.message_rows import messages_of
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.fault_figures import FaultFigures
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.roll_up_file import last_roll_up
from streamgauge.tables.results import MEASURE

LOOKED_AT = [
    "case",
    "phase",
    "intended_ns",
    "acked_ns",
    "received_ns",
    "received_count",
    "corrupt_count",
    "error",
]
_TIMES_MEDIAN, _TIMES_P99, _LEAST_MS = 10, 2, 5.0
_MOST_BEFORE = 2_000_000
"""Latencies before the first fault that are looked at."""
_MISSING_NS = NS_PER_S
BEFORE_NS = 60 * NS_PER_S
"""For so long before the first fault it is looked what is usual: of a long run all else may be rolled up."""

FIGURES: TypeAdapter[dict[str, list[FaultFigures]]] = TypeAdapter(dict[str, list[FaultFigures]])


def fault_figures(run: RunDir, plan: Plan, starts_ns: Mapping[str, int]) -> None:
    """Written for whoever reports; a run without faults has no such file."""
    cases = {case.id: case for case in plan.cases if case.faults and case.id in starts_ns}
    run.remove(run.fault_figures)
    if not cases:
        return
    costs = {
        name: FaultCosts(case.faults, _late_over_ms(run, case), has_consumers=case.load.consumer_count > 0)
        for name, case in cases.items()
    }
    for case, part in _parts(run, cases):
        costs[case].add(part)
    found = {case: costs[case].figures(starts_ns[case]) for case in cases}
    write_fault_figures(run, found)


def write_fault_figures(run: RunDir, found: Mapping[str, list[FaultFigures]]) -> None:
    run.write_bytes(run.fault_figures, FIGURES.dump_json(dict(found), indent=1))


def _parts(run: RunDir, cases: Mapping[str, Case]) -> Iterator[tuple[str, pa.Table]]:
    for part in messages_of(run, LOOKED_AT):
        for case in pc.unique(part["case"]).to_pylist():
            if case in cases:
                yield case, part.filter(pc.equal(part["case"], case))


def _late_over_ms(run: RunDir, case: Case) -> float | None:
    """Where messages were rolled up, by what it was known then who was late, and kept."""
    rolled = last_roll_up(run, case.id)
    if rolled is not None and rolled.late_over_ms is not None:
        return rolled.late_over_ms
    return usual_before((part for _, part in _parts(run, {case.id: case})), first_fault_ns(case))


def first_fault_ns(case: Case) -> int | None:
    return min((record.began_ns for record in case.faults if record.began_ns is not None), default=None)


def usual_before(parts: Iterable[pa.Table], began_ns: int | None) -> float | None:
    """From which latency on a message is late, by the minute before the first fault."""
    before, kept = list[Integers](), 0
    for part in parts:
        came = arrived(part)
        is_before = (
            came.valid & (came.values < (began_ns or 0)) & (came.values >= (began_ns or 0) - BEFORE_NS)
        )
        is_before &= pc.equal(part["phase"], MEASURE).to_numpy()
        if kept < _MOST_BEFORE:
            before.append((came.values - integers(part, "intended_ns"))[is_before])
            kept += len(before[-1])
    return late_over_ms(np.concatenate([np.zeros(0, np.int64), *before]))


def late_over_ms(latencies_ns: Integers) -> float | None:
    """From which latency on a message is late, by those before the first fault; None: there are none."""
    if not len(latencies_ns):
        return None
    median, p99 = np.percentile(latencies_ns, [50, 99]) / NS_PER_MS
    return float(max(_TIMES_MEDIAN * median, _TIMES_P99 * p99, _LEAST_MS))


def arrived(part: pa.Table) -> Nullable:
    """When a message was through: received; without consumers, acknowledged."""
    received = nullable(part, "received_ns")
    if received.valid.any():
        return Nullable(received.values, received.valid)
    acked = nullable(part, "acked_ns")
    return Nullable(acked.values, acked.valid & ~part["error"].is_valid().to_numpy())


@dataclass
class _Cost:
    """Of one fault."""

    late: int = 0
    failed: int = 0
    lost: int = 0
    duplicate: int = 0
    first_felt_ns: int | None = None
    over_ns: int | None = None
    """When the last late message had come, or the last lost one would have been late."""
    last_hit_intended_ns: int = -1
    """Of messages that were late or lost, when the last one was due."""
    last_intended_ns: int = -1
    longest_ns: int | None = None

    def hit(self, felt_ns: Integers, over_ns: Integers, intended_ns: Integers) -> None:
        """Messages were late or lost: since when each was felt, when that was over, when it was due."""
        self.first_felt_ns = _least(self.first_felt_ns, int(felt_ns.min()))
        self.over_ns = max(self.over_ns or 0, int(over_ns.max()))
        self.last_hit_intended_ns = max(self.last_hit_intended_ns, int(intended_ns.max()))


class FaultCosts:
    """Of the faults of one case. One row: a message, or what was due to one of many who get it."""

    def __init__(self, faults: Sequence[FaultRecord], late_ms: float | None, *, has_consumers: bool) -> None:
        self._faults, self._late_ms, self._has_consumers = faults, late_ms, has_consumers
        self._late_ns = None if late_ms is None else int(late_ms * NS_PER_MS)
        self._begun = sorted(
            (record.began_ns, number) for number, record in enumerate(faults) if record.began_ns is not None
        )
        self._costs = [_Cost() for _ in faults]

    def add(self, part: pa.Table) -> None:
        """`part`: the columns that are looked at; of a case once, or piece by piece."""
        if not self._begun or not part.num_rows:
            return
        intended, came = integers(part, "intended_ns"), arrived(part)
        at = intended + (_MISSING_NS if self._late_ns is None else self._late_ns)
        owner = np.searchsorted([began for began, _ in self._begun], at, side="right") - 1
        has_error = part["error"].is_valid().to_numpy()
        is_failed = has_error & ~aborted_as_planned(part["error"])
        acked = nullable(part, "acked_ns")
        copies = integers(part, "received_count")
        is_lost = acked.valid & ~has_error & (copies == 0) & (integers(part, "corrupt_count") == 0)
        is_lost &= self._has_consumers
        for place, (_, number) in enumerate(self._begun):
            own = owner == place
            if own.any():
                cost = self._costs[number]
                cost.failed += int(np.count_nonzero(own & is_failed))
                cost.lost += int(np.count_nonzero(own & is_lost))
                cost.duplicate += int((copies[own & (copies > 1)] - 1).sum())
                cost.last_intended_ns = max(cost.last_intended_ns, int(intended[own].max()))
                self._add_late(cost, intended, came, own)
                if (lost := own & is_lost).any():
                    cost.hit(at[lost], at[lost], intended[lost])
                told = acked.values[own & is_failed & acked.valid]
                if len(told):
                    cost.first_felt_ns = _least(cost.first_felt_ns, int(told.min()))

    def _add_late(self, cost: _Cost, intended: Integers, arrived: Nullable, own: Bools) -> None:
        if self._late_ns is None:
            return
        latency = arrived.values - intended
        here = own & arrived.valid
        if here.any():
            cost.longest_ns = max(cost.longest_ns or 0, int(latency[here].max()))
        late = here & (latency > self._late_ns)
        if late.any():
            cost.late += int(np.count_nonzero(late))
            cost.hit(intended[late] + self._late_ns, arrived.values[late], intended[late])

    def figures(self, start_ns: int) -> list[FaultFigures]:
        return [
            _figures(record, cost, start_ns, self._late_ms)
            for record, cost in zip(self._faults, self._costs, strict=True)
        ]


def _figures(record: FaultRecord, cost: _Cost, start_ns: int, late_ms: float | None) -> FaultFigures:
    began = record.began_ns
    is_recovered = cost.over_ns is None or cost.last_hit_intended_ns < cost.last_intended_ns
    return FaultFigures(
        kind=record.kind,
        target=record.target,
        problem=record.problem,
        began_s=_seconds(began, start_ns),
        ended_s=_seconds(record.ended_ns, start_ns),
        late_over_ms=late_ms,
        # What was due before the fault may be late because of it.
        detect_s=None if began is None else _felt(cost.first_felt_ns, began),
        recover_s=_seconds(cost.over_ns, began) if is_recovered and began is not None else None,
        is_recovered=is_recovered,
        late_count=cost.late,
        longest_ms=None if cost.longest_ns is None else cost.longest_ns / NS_PER_MS,
        failed_count=cost.failed,
        lost_count=cost.lost,
        duplicate_count=cost.duplicate,
        effects=record.effects,
    )


def _felt(felt_ns: int | None, began_ns: int) -> float | None:
    return None if felt_ns is None else max(0.0, (felt_ns - began_ns) / NS_PER_S)


def _seconds(at_ns: int | None, since_ns: int) -> float | None:
    return None if at_ns is None else (at_ns - since_ns) / NS_PER_S


def _least(known: int | None, other: int) -> int:
    return other if known is None else min(known, other)
