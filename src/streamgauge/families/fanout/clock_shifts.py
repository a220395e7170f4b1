"""Times that agents of other hosts wrote down by what was known of their clocks at the start, put right by
all that was read of them until the end: clocks drift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.clocks import clock_lines, latest_starts
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.column import fields

GENERATOR = "producer-0"
_TIMES = ("intended_ns", "sent_ns", "acked_ns")
_SHIFT = fields(pa.int64(), "since_ns", "shift_ns")
SHIFTS = pa.schema(
    [
        *fields(pa.string(), "of_case"),
        *fields(pa.int64(), "first", "end"),
        *_SHIFT,
        *fields(pa.float64(), "drift"),
    ]
)
Row = Mapping[str, Any]


def shifts(marks: Iterable[Row]) -> dict[tuple[str, str], dict[str, Any]]:
    """By case and agent: since `since_ns` add `shift_ns` and the `drift`. An agent whose clock nobody had to
    read has none."""
    known = list(marks)
    starts = latest_starts(known)
    found = {}
    for place, line in clock_lines(known).items():
        if line is not None and place in starts:
            # A time in an event is that of its clock and this.
            by_then_ns = starts[place]["reference_offset_ns"]
            found[place] = {
                "since_ns": line.anchor_ns + by_then_ns,
                "shift_ns": line.offset_ns - by_then_ns,
                "drift": line.drift,
            }
    return found


def shift_rows(plan: Plan, marks: Iterable[Row]) -> pa.Table:
    """One row: the clients of a swarm whose clock was read."""
    known = shifts(marks)
    rows = [
        {"of_case": case.id, "first": task.share[0], "end": sum(task.share), **known[case.id, task.agent]}
        for case in plan.cases
        for task in as_work(case.work, FanoutPoint).agents()
        if task.share is not None and (case.id, task.agent) in known
    ]
    return pa.Table.from_pylist(rows, schema=SHIFTS)


def right_generated(generated: pa.Table, marks: Iterable[Row]) -> pa.Table:
    """All of its times are of one agent."""
    known = {case: shift for (case, agent), shift in shifts(marks).items() if agent == GENERATOR}
    if not known:
        return generated
    cases = [known.get(case, {}) for case in generated["case"].to_pylist()]
    since, by, drift = (
        pa.array([case.get(name, 0) for case in cases], kind)
        for name, kind in (("since_ns", pa.int64()), ("shift_ns", pa.int64()), ("drift", pa.float64()))
    )
    for name in _TIMES:
        times = generated[name]
        drifted = pc.round(pc.multiply(drift, pc.cast(pc.subtract(times, since), pa.float64(), safe=False)))
        moved = pc.add(times, pc.add(by, drifted.cast(pa.int64())))
        generated = generated.set_column(generated.schema.get_field_index(name), generated.field(name), moved)
    return generated
