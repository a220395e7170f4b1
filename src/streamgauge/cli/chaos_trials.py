"""One run of `streamgauge chaos`: was every promise kept, was one broken, or does nobody know?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from streamgauge.core.findings import Verification
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, read_status
from streamgauge.plan.fault_file import FaultRecord, read_faults
from streamgauge.report.result_tables import read_verification

FAILED = "failed"
"""Of what broke, beside the kinds of findings: clients gave up."""


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
    broke: frozenset[str] = frozenset()
    """Which kinds of findings, or FAILED: by these one run is known to have broken as another did."""

    def breaks_like(self, other: Trial) -> bool:
        return self.promises is Promises.BROKEN and bool(self.broke & other.broke)


def trial_of(run: RunDir) -> Trial | None:
    """By what the run's own folder says; None: it never came to its case, and says nothing."""
    cases = read_status(run).cases
    if len(cases) != 1:
        return None
    [(name, case)] = cases.items()
    found = None if case.status == "failed" else read_verification(run)
    faults = read_faults(run).get(name, ())
    if broken := list(_broken(case, found, faults)):
        words = tuple(why for _, why in broken)
        return Trial(run, Promises.BROKEN, words, frozenset(kind for kind, _ in broken))
    unsure = tuple(_unsure(case, found, faults))
    return Trial(run, Promises.NOT_DECIDABLE if unsure else Promises.KEPT, unsure)


def _broken(
    case: CaseStatus, found: Verification | None, faults: Sequence[FaultRecord]
) -> Iterator[tuple[str, str]]:
    """Kinds and words. A case that fails is no promise kept: clients gave up, whatever the log says. But only
    a fault that went as planned can have made them: not one that never began, or left its broker down."""
    has_begun = any(fault.began_ns is not None for fault in faults)
    if case.status == "failed" and has_begun and not any(fault.problem for fault in faults):
        yield FAILED, f"the case failed: {case.reason}"
    for verified in found.cases if found is not None else ():
        for finding in verified.findings:
            if finding.allowed_by is None:
                yield finding.kind, f"{finding.count:,} {finding.kind.replace('_', ' ')}"


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
