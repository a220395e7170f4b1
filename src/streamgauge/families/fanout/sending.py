"""How a point's generator sent: its rate, when messages that count were sent, and how late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Integers
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.percentiles import weighted_percentiles
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import Plan

Row = dict[str, Any]

_LAG_SHARE = 0.99


def sending_of(sent: pa.Table) -> dict[str, Row]:
    """By case. `sent`: rows of table `generated`, on the reference clock."""
    cases = pc.unique(sent["case"]).to_pylist()
    return {case: _of_case(sent.filter(pc.equal(sent["case"], case))) for case in cases}


def planned_messages(plan: Plan) -> dict[str, int]:
    """By case: how many were to count."""
    points = {case.id: as_work(case.work, FanoutPoint) for case in plan.cases}
    return {case: point.schedule(0).measured_count for case, point in points.items()}


def _of_case(sent: pa.Table) -> Row:
    taken = sent.filter(sent["acked_ns"].is_valid())
    counted = sent.filter(pc.invert(sent["is_warm_up"]))
    of_taken = taken.filter(pc.invert(taken["is_warm_up"]))
    sent_ns, due_ns = integers(counted, "sent_ns"), integers(counted, "intended_ns")
    return {
        "messages": taken.num_rows,
        "rate_per_s": _per_s(integers(taken, "sent_ns")),
        "begin_ns": pc.min(of_taken["intended_ns"]).as_py(),
        "end_ns": pc.max(taken["sent_ns"]).as_py(),
        "lag_p99_ms": _late_ms(integers(of_taken, "sent_ns") - integers(of_taken, "intended_ns")),
        "measured_messages": counted.num_rows,
        "sent_messages_per_s": _per_s(sent_ns),
        "sent_range_s": _range_s(sent_ns),
        "intended_range_s": _range_s(due_ns),
    }


def _range_s(times_ns: Integers) -> float | None:
    return int(np.ptp(times_ns)) / NS_PER_S if len(times_ns) else None


def _per_s(times_ns: Integers) -> float | None:
    seconds = _range_s(times_ns)
    return (len(times_ns) - 1) / seconds if seconds else None


def _late_ms(lags_ns: Integers) -> float | None:
    if not len(lags_ns):
        return None
    ones, begins = np.ones(len(lags_ns), np.int64), np.zeros(1, np.int64)
    [[found]] = weighted_percentiles(np.sort(lags_ns), ones, begins, [_LAG_SHARE])
    return float(found) / NS_PER_MS
