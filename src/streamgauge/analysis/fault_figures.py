"""What each fault cost: when it was felt, when that was over, and which messages paid for it.

A message is *late* when it took longer than usual in the minute before the first fault: ten times the median,
or twice the 99th percentile, whichever is more.
Table `messages` goes by twice, in row groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from streamgauge.analysis.fault_costs import NO_KEYS, FaultCosts, arrived, heard_of
from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Integers
from streamgauge.analysis.message_rows import messages_of
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.fault_figures import FaultFigures
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.roll_up_file import last_roll_up
from streamgauge.tables.results import MEASURE

LOOKED_AT = [
    "case",
    "phase",
    "producer",
    "sequence",
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
BEFORE_NS = 60 * NS_PER_S
"""For so long before the first fault it is looked what is usual: of a long run all else may be rolled up."""

FIGURES: TypeAdapter[dict[str, list[FaultFigures]]] = TypeAdapter(dict[str, list[FaultFigures]])


def fault_figures(
    run: RunDir, plan: Plan, starts_ns: Mapping[str, int], written_again: Mapping[str, Integers]
) -> None:
    """Written for whoever reports; a run without faults has no such file.

    `written_again`: by case the sorted keys of messages at more than one offset, one for each copy.
    """
    cases = {case.id: case for case in plan.cases if case.faults and case.id in starts_ns}
    run.remove(run.fault_figures)
    if not cases:
        return
    costs = {
        name: FaultCosts(
            case.faults, _late_over_ms(run, case), heard_of(case), written_again.get(name, NO_KEYS)
        )
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
