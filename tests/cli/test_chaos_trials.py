"""What a run's folder says of the promises: only what was done, and looked at whole, is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli.chaos_trials import Promises, trial_of
from streamgauge.core.findings import CaseVerification, Finding, FindingKind, Verification
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.plan.fault_file import FaultRecord, note_faults

DONE = FaultRecord(kind="broker_kill", planned_at_s=5, target="broker-1", began_ns=1, done_ns=2, ended_ns=3)
LOST = Finding(kind=FindingKind.LOST_WRITE, count=1200)
ALLOWED = Finding(kind=FindingKind.REDELIVERED, count=3, allowed_by="subscription: group")


def run_of(
    folder: Path,
    case: CaseStatus | None,
    *faults: FaultRecord,
    found: CaseVerification | None = CaseVerification(case="001"),  # noqa: B008
) -> RunDir:
    run = RunDir.create(str(folder), "chaos")
    write_status(run, RunStatus(status="ok", cases={} if case is None else {"001": case}))
    if faults:
        note_faults(run, "001", faults)
    if found is not None:
        run.write_text(run.verification, Verification(run=run.id, cases=(found,)).model_dump_json())
    return run


OK = CaseStatus("ok")


def without(**known: Any) -> FaultRecord:
    return DONE.model_copy(update=known)


@pytest.mark.parametrize(
    ("case", "fault", "found", "promises", "why"),
    [
        (OK, DONE, CaseVerification(case="001"), Promises.KEPT, ""),
        (OK, DONE, CaseVerification(case="001", findings=(ALLOWED,)), Promises.KEPT, ""),
        (OK, DONE, CaseVerification(case="001", findings=(LOST,)), Promises.BROKEN, "1,200 lost write"),
        (CaseStatus("failed", "no leader"), DONE, None, Promises.BROKEN, "the case failed: no leader"),
        # A broker that did not come back, and what broke before any fault, are no word on the promises.
        (
            CaseStatus("failed", "no leader"),
            without(problem="broker-1 did not start again"),
            None,
            Promises.NOT_DECIDABLE,
            "the case is failed: no leader",
        ),
        # Broken is broken, however far it came.
        (
            CaseStatus("partial", "timed out"),
            without(done_ns=None),
            CaseVerification(case="001", findings=(LOST,)),
            Promises.BROKEN,
            "1,200 lost write",
        ),
        (
            CaseStatus("partial", "timed out"),
            DONE,
            CaseVerification(case="001"),
            Promises.NOT_DECIDABLE,
            "the case is partial: timed out",
        ),
        (OK, DONE, None, Promises.NOT_DECIDABLE, "it was not verified"),
        (
            OK,
            DONE,
            CaseVerification(case="001", not_checked=("offsets",)),
            Promises.NOT_DECIDABLE,
            "not checked: offsets",
        ),
        (
            OK,
            without(problem="broker-1 did not start again"),
            CaseVerification(case="001"),
            Promises.NOT_DECIDABLE,
            "broker_kill at 5 s: broker-1 did not start again",
        ),
        (
            OK,
            without(began_ns=None, done_ns=None, ended_ns=None, target=None),
            CaseVerification(case="001"),
            Promises.NOT_DECIDABLE,
            "broker_kill at 5 s: it was not done",
        ),
    ],
)
def test_kept_is_only_what_was_done_and_looked_at(
    case: CaseStatus,
    fault: FaultRecord,
    found: CaseVerification | None,
    promises: Promises,
    why: str,
    tmp_path: Path,
) -> None:
    trial = trial_of(run_of(tmp_path, case, DONE, fault, found=found))

    assert trial is not None
    assert trial.promises is promises
    assert trial.why[:1] == ((why,) if why else ())
    assert len(trial.why) <= 1 or case.status == "failed"
    assert bool(trial.broke) == (promises is Promises.BROKEN)


@pytest.mark.parametrize("faults", [(), (FaultRecord(kind="broker_kill", planned_at_s=5),)])
def test_a_case_that_failed_before_any_fault_says_nothing_of_the_promises(
    faults: tuple[FaultRecord, ...], tmp_path: Path
) -> None:
    failed = CaseStatus("failed", "topic t could not be made")

    trial = trial_of(run_of(tmp_path, failed, *faults, found=None))

    assert trial is not None
    assert trial.promises is Promises.NOT_DECIDABLE
    assert trial.why[0] == "the case is failed: topic t could not be made"


def test_a_run_breaks_like_another_by_what_broke(tmp_path: Path) -> None:
    lost, other = (
        trial_of(run_of(tmp_path / name, OK, DONE, found=CaseVerification(case="001", findings=findings)))
        for name, findings in (
            ("lost", (LOST,)),
            ("other", (LOST, Finding(kind=FindingKind.CORRUPT, count=1))),
        )
    )
    failed = trial_of(run_of(tmp_path / "failed", CaseStatus("failed", "no leader"), DONE, found=None))
    kept = trial_of(run_of(tmp_path / "kept", OK, DONE))

    assert lost is not None
    assert other is not None
    assert failed is not None
    assert kept is not None
    assert other.breaks_like(lost)
    assert not failed.breaks_like(lost)
    assert not kept.breaks_like(lost)


def test_where_no_fault_is_noted_nothing_is_kept(tmp_path: Path) -> None:
    trial = trial_of(run_of(tmp_path, OK))

    assert trial is not None
    assert (trial.promises, trial.why) == (Promises.NOT_DECIDABLE, ("no fault was done",))


def test_a_run_that_never_came_to_its_case_says_nothing(tmp_path: Path) -> None:
    assert trial_of(run_of(tmp_path, None, DONE)) is None
