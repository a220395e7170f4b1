"""What each fault cost: when it was felt, when that was over, and which messages paid for it.

A message is *late* when it took longer than usual before the first fault: ten times the median, or twice the
99th percentile, whichever is more. It is charged to the last fault that had begun when it would have become
late: what was due just before a leader dies may be lost with it, and what one fault holds up until after the
next is still the first one's.
Table `messages` goes by twice, in row groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from streamgauge.analysis.joining.columns import integers, nullable
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.analysis.verifying.verify import messages_of
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.fault_figures import FaultFigures
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.plan.plan_file import Plan
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

FIGURES: TypeAdapter[dict[str, list[FaultFigures]]] = TypeAdapter(dict[str, list[FaultFigures]])


def fault_figures(run: RunDir, plan: Plan, starts_ns: Mapping[str, int]) -> None:
    """Written for whoever reports; a run without faults has no such file."""
    cases = {case.id: case for case in plan.cases if case.faults and case.id in starts_ns}
    run.remove(run.fault_figures)
    if not cases:
        return
    late_ms = {case: _late_over_ms(run, cases[case]) for case in cases}
    costs = {case: _Costs(cases[case], late_ms[case]) for case in cases}
    for case, part in _parts(run, cases):
        costs[case].add(part)
    found = {case: costs[case].figures(starts_ns[case]) for case in cases}
    run.write_bytes(run.fault_figures, FIGURES.dump_json(found, indent=1))


def _parts(run: RunDir, cases: Mapping[str, Case]) -> Iterator[tuple[str, pa.Table]]:
    for part in messages_of(run, LOOKED_AT):
        for case in pc.unique(part["case"]).to_pylist():
            if case in cases:
                yield case, part.filter(pc.equal(part["case"], case))


def _late_over_ms(run: RunDir, case: Case) -> float | None:
    """None: nothing is known of the time before the first fault."""
    began = [record.began_ns for record in case.faults if record.began_ns is not None]
    before, kept = list[Integers](), 0
    for _, part in _parts(run, {case.id: case}):
        received = _arrived(part)
        intended = integers(part, "intended_ns")
        is_before = received.valid & (received.values < min(began, default=0))
        is_before &= pc.equal(part["phase"], MEASURE).to_numpy()
        if kept < _MOST_BEFORE:
            before.append((received.values - intended)[is_before])
            kept += len(before[-1])
    latencies = np.concatenate([np.zeros(0, np.int64), *before])
    if not len(latencies):
        return None
    median, p99 = np.percentile(latencies, [50, 99]) / NS_PER_MS
    return float(max(_TIMES_MEDIAN * median, _TIMES_P99 * p99, _LEAST_MS))


def _arrived(part: pa.Table) -> _Nullable:
    """When a message was through: received; without consumers, acknowledged."""
    received = nullable(part, "received_ns")
    if received.valid.any():
        return _Nullable(received.values, received.valid)
    acked = nullable(part, "acked_ns")
    return _Nullable(acked.values, acked.valid & ~part["error"].is_valid().to_numpy())


@dataclass(frozen=True)
class _Nullable:
    values: Integers
    valid: Bools


@dataclass
class _Cost:
    """Of one fault."""

    late: int = 0
    failed: int = 0
    lost: int = 0
    duplicate: int = 0
    first_felt_ns: int | None = None
    last_late_ns: int | None = None
    last_late_intended_ns: int = -1
    last_intended_ns: int = -1
    longest_ns: int | None = None


class _Costs:
    def __init__(self, case: Case, late_ms: float | None) -> None:
        self._case, self._late_ms = case, late_ms
        self._late_ns = None if late_ms is None else int(late_ms * NS_PER_MS)
        self._begun = sorted(
            (record.began_ns, number)
            for number, record in enumerate(case.faults)
            if record.began_ns is not None
        )
        self._costs = [_Cost() for _ in case.faults]

    def add(self, part: pa.Table) -> None:
        if not self._begun or not part.num_rows:
            return
        intended, arrived = integers(part, "intended_ns"), _arrived(part)
        at = intended + (_MISSING_NS if self._late_ns is None else self._late_ns)
        owner = np.searchsorted([began for began, _ in self._begun], at, side="right") - 1
        is_failed = part["error"].is_valid().to_numpy()
        acked = nullable(part, "acked_ns")
        copies = integers(part, "received_count")
        has_consumers = self._case.load.consumer_count > 0
        is_lost = (
            has_consumers & acked.valid & ~is_failed & (copies == 0) & (integers(part, "corrupt_count") == 0)
        )
        for place, (_, number) in enumerate(self._begun):
            own = owner == place
            if own.any():
                cost = self._costs[number]
                cost.failed += int(np.count_nonzero(own & is_failed))
                cost.lost += int(np.count_nonzero(own & is_lost))
                cost.duplicate += int((copies[own & (copies > 1)] - 1).sum())
                cost.last_intended_ns = max(cost.last_intended_ns, int(intended[own].max()))
                self._add_late(cost, intended, arrived, own)
                told = acked.values[own & is_failed & acked.valid]
                if len(told):
                    cost.first_felt_ns = _least(cost.first_felt_ns, int(told.min()))

    def _add_late(self, cost: _Cost, intended: Integers, arrived: _Nullable, own: Bools) -> None:
        if self._late_ns is None:
            return
        latency = arrived.values - intended
        here = own & arrived.valid
        if here.any():
            cost.longest_ns = max(cost.longest_ns or 0, int(latency[here].max()))
        late = here & (latency > self._late_ns)
        if late.any():
            cost.late += int(np.count_nonzero(late))
            cost.first_felt_ns = _least(cost.first_felt_ns, int(intended[late].min()) + self._late_ns)
            cost.last_late_ns = max(cost.last_late_ns or 0, int(arrived.values[late].max()))
            cost.last_late_intended_ns = max(cost.last_late_intended_ns, int(intended[late].max()))

    def figures(self, start_ns: int) -> list[FaultFigures]:
        return [
            _figures(record, cost, start_ns, self._late_ms)
            for record, cost in zip(self._case.faults, self._costs, strict=True)
        ]


def _figures(record: FaultRecord, cost: _Cost, start_ns: int, late_ms: float | None) -> FaultFigures:
    began = record.began_ns
    is_recovered = cost.late == 0 or cost.last_late_intended_ns < cost.last_intended_ns
    return FaultFigures(
        kind=record.kind,
        target=record.target,
        problem=record.problem,
        began_s=_seconds(began, start_ns),
        ended_s=_seconds(record.ended_ns, start_ns),
        late_over_ms=late_ms,
        # What was due before the fault may be late because of it.
        detect_s=None if began is None else _felt(cost.first_felt_ns, began),
        recover_s=_seconds(cost.last_late_ns, began) if is_recovered and began is not None else None,
        is_recovered=is_recovered,
        late_count=cost.late,
        longest_ms=None if cost.longest_ns is None else cost.longest_ns / NS_PER_MS,
        failed_count=cost.failed,
        lost_count=cost.lost,
        duplicate_count=cost.duplicate,
    )


def _felt(felt_ns: int | None, began_ns: int) -> float | None:
    return None if felt_ns is None else max(0.0, (felt_ns - began_ns) / NS_PER_S)


def _seconds(at_ns: int | None, since_ns: int) -> float | None:
    return None if at_ns is None else (at_ns - since_ns) / NS_PER_S


def _least(known: int | None, other: int) -> int:
    return other if known is None else min(known, other)
