"""One run of `streamgauge chaos`: was every promise kept, was one broken, or does nobody know?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from streamgauge.core.findings import Verification
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, read_status
from streamgauge.plan.fault_file import FaultRecord, read_faults
from streamgauge.report.result_tables import read_verification


class Promises(StrEnum):
    KEPT = "kept"
    BROKEN = "broken"
    NOT_DECIDABLE = "not_decidable"


@dataclass(frozen=True)
class Trial:
    run: RunDir
    promises: Promises
    why: tuple[str, ...] = ()
    """What is broken, or why it is not decidable."""


def trial_of(run: RunDir) -> Trial | None:
    """By what the run's own folder says; None: it never came to its case, and says nothing."""
    cases = read_status(run).cases
    if len(cases) != 1:
        return None
    [(name, case)] = cases.items()
    found = None if case.status == "failed" else read_verification(run)
    if broken := tuple(_broken(case, found)):
        return Trial(run, Promises.BROKEN, broken)
    unsure = tuple(_unsure(case, found, read_faults(run).get(name, ())))
    return Trial(run, Promises.NOT_DECIDABLE if unsure else Promises.KEPT, unsure)


def _broken(case: CaseStatus, found: Verification | None) -> Iterator[str]:
    """A case that fails is no promise kept: clients gave up, whatever the log says."""
    if case.status == "failed":
        yield f"the case failed: {case.reason}"
    for verified in found.cases if found is not None else ():
        for finding in verified.findings:
            if finding.allowed_by is None:
                yield f"{finding.count:,} {finding.kind.replace('_', ' ')}"


def _unsure(case: CaseStatus, found: Verification | None, faults: Iterable[FaultRecord]) -> Iterator[str]:
    if case.status != "ok":
        yield f"the case is {case.status}: {case.reason}"
    if found is None or not found.cases:
        yield "it was not verified"
    else:
        yield from (f"not checked: {what}" for verified in found.cases for what in verified.not_checked)
    there = False
    for fault in faults:
        there = True
        if fault.problem is not None:
            yield f"{fault.kind} at {fault.planned_at_s:g} s: {fault.problem}"
        elif fault.done_ns is None:
            yield f"{fault.kind} at {fault.planned_at_s:g} s: it was not done"
    if not there:
        yield "no fault was done"
