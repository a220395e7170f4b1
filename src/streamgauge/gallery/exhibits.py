"""The gallery: each fault, what it would report of one run, and what is true of that run.

What is true comes from our own results of the run, as everybody gets them: its report, its tables, and what
`diff` says of an interval.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import measured_cases
from streamgauge.core.clock import NS_PER_MS
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.gallery.fault_list import FAULTS, MeasuringFault, Reported
from streamgauge.gallery.faulty import Messages
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.result_tables import ResultTables, read_result
from streamgauge.report.results import results_document
from streamgauge.spec.metrics import duration
from streamgauge.tables.results import HISTOGRAM, MESSAGES, WARM_UP


class Exhibit(BaseModel):
    """One fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    figure: str
    unit: str
    wrong: float
    true: float
    what: str
    """What is done wrong, and what follows."""
    instead: str
    """How it is done here."""
    seen_in: str
    """Where it was found."""

    @property
    def factor(self) -> float:
        """How far off it is, as a ratio above 1."""
        low, high = sorted((abs(self.wrong), abs(self.true)))
        return high / low if low else float("inf")


def exhibits_of(run: RunDir) -> list[Exhibit]:
    document = results_document(run)
    if not isinstance(document, CasesDocument) or len(document.cases) != 1:
        raise BadInput(f"{run.location}: the gallery needs a run of one case of messages")
    [case] = document.cases
    messages = messages_of(run)
    reported = _reported(run, document, case)
    return [_shown(fault, reported, messages) for fault in FAULTS]


def _reported(run: RunDir, document: CasesDocument, case: Case) -> Reported:
    mean = duration("mean")
    [measured] = measured_cases(run, document)
    told = None if mean is None else measured.estimate(mean)
    rows = ResultTables.read(run).rows(HISTOGRAM, case.case, leg=case.main_leg)
    histogram = [(row["value_ms"], row["count"]) for row in rows]
    return Reported(case, histogram, told if isinstance(told, Estimate) else None)


def messages_of(run: RunDir) -> Messages:
    rows = read_result(run, MESSAGES).sort_by("intended_ns")
    due = rows.column("intended_ns").to_numpy()
    received = rows.column("received_ns").to_numpy(zero_copy_only=False).astype(np.float64)
    is_warm_up = pc.equal(rows.column("phase"), WARM_UP).to_numpy(zero_copy_only=False)
    copies = rows.column("received_count").to_numpy()
    size_bytes = rows.column("size_bytes").to_numpy()
    times = (due - due[0]) / NS_PER_MS, (received - due[0]) / NS_PER_MS
    return Messages(*times, is_warm_up, copies, size_bytes)


def _shown(fault: MeasuringFault, reported: Reported, messages: Messages) -> Exhibit:
    true = fault.true(reported)
    if true is None:
        raise BadInput(f"gallery: the run has no {fault.figure}")
    return Exhibit(
        name=fault.name,
        figure=fault.figure,
        unit=fault.unit,
        wrong=fault.wrong(messages),
        true=true,
        what=fault.what,
        instead=fault.instead,
        seen_in=fault.seen_in,
    )
