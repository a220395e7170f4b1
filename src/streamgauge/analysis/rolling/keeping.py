"""Which messages keep a row of their own though they are rolled up: the slowest, and those around a fault."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from streamgauge.analysis.fault_costs import arrived
from streamgauge.analysis.fault_figures import BEFORE_NS
from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Bools
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.plan.cases import Case
from streamgauge.plan.fault_file import FaultRecord

SLOWEST = 1_000
"""Of each roll-up."""
_AFTER_NS = 60 * NS_PER_S
_NO_END_NS = 1 << 62
YOUNGEST_NS = BEFORE_NS + 15 * NS_PER_S
"""Where faults are planned nothing younger is rolled up: it may be of the time before one."""


def is_kept(messages: pa.Table, case: Case, late_over_ms: float | None) -> Bools:
    """`late_over_ms`: since the first fault, who took longer than that is what faults are charged with."""
    due_ns, came = integers(messages, "intended_ns"), arrived(messages)
    came_ns = np.where(came.valid, came.values, due_ns)
    took_ns = came_ns - due_ns
    kept = np.zeros(messages.num_rows, bool)
    kept[np.argsort(took_ns)[-SLOWEST:]] = True
    for fault in case.faults:
        if fault.began_ns is not None:
            kept |= (came_ns >= fault.began_ns - BEFORE_NS) & (due_ns <= _ended_ns(fault) + _AFTER_NS)
    if late_over_ms is not None:
        kept |= took_ns > int(late_over_ms * NS_PER_MS)
    return kept


def _ended_ns(fault: FaultRecord) -> int:
    """One that is never taken back is over when it was done; one that still goes on has no end yet."""
    if fault.ended_ns is not None:
        return fault.ended_ns
    if fault.planned_for_s is None and fault.began_ns is not None:
        return fault.done_ns or fault.began_ns
    return _NO_END_NS
