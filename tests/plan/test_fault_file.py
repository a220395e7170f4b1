"""faults.json: written as faults happen, read with the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.fault_file import FaultRecord, note_faults, read_faults


def test_a_case_keeps_the_last_word_on_its_faults_beside_others(tmp_path: Path) -> None:
    run = RunDir.create(str(tmp_path), "faults")
    planned = FaultRecord(kind="broker_kill", planned_at_s=3)
    done = planned.model_copy(update={"target": "broker-2", "began_ns": 5})

    note_faults(run, "001", [planned])
    note_faults(run, "002", [planned])
    note_faults(run, "001", [done])

    assert read_faults(run) == {"001": (done,), "002": (planned,)}


def test_what_went_as_planned_was_done_and_has_no_problem() -> None:
    planned = FaultRecord(kind="broker_kill", planned_at_s=3)
    begun = planned.model_copy(update={"began_ns": 5})
    done = begun.model_copy(update={"done_ns": 6})
    stuck = done.model_copy(update={"problem": "broker-2 did not start again"})

    assert [one.went_as_planned for one in (planned, begun, done, stuck)] == [False, False, True, False]


def test_a_run_without_faults_has_none(tmp_path: Path) -> None:
    assert read_faults(RunDir.create(str(tmp_path), "plain")) == {}


def test_what_is_no_record_of_faults_is_refused(tmp_path: Path) -> None:
    run = RunDir.create(str(tmp_path), "broken")
    run.write_json(run.faults, {"001": [{"kind": 3}]})

    with pytest.raises(CorruptRun, match=r"faults\.json: not a record of faults"):
        read_faults(run)
