from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.guardian import mark
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, read_status, write_status
from streamgauge.launch.run_records import RunRecords
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.spec.workload import Workload
from streamgauge.tables.events import EVENT_TABLES

PLAN: Plan = make_plan(
    Workload.model_validate(
        {
            "targets": [{"name": "s", "driver": "simulated"}],
            "load": {"messages": 5, "topics": {"own_names": True}},
            "sweep": {"messages": [5, 6, 7]},
        }
    ),
    "run",
)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """Killed in its second case: nobody could write that down."""
    run = RunDir(str(tmp_path / "run"))
    records = RunRecords.new(run, "local[2]")
    for case in PLAN.cases[:2]:
        records.begin_case(case)
        for table in ("sends", "marks"):
            run.write_text(run.event_file(table, case.id, "producer-0", 0), "rows")
        run.write_json(run.manifest(case.id, "producer-0"), {})
        run.write_text(f"{run.journal(case.id, 'producer-0')}/0.arrow", "rows")
        if case.id == "001":
            records.end_case(case, CaseStatus("ok"), {"producer": {"acks": "1"}})
    status = read_status(run)
    status.stages_s = {"measuring": 2.5}
    status.pid = 2**22 + 1  # above any that there is
    write_status(run, status)
    return run


def test_finished_cases_stay_and_nothing_is_kept_of_the_one_that_was_cut_off(run: RunDir) -> None:
    records = RunRecords.resumed(run, "local[2]", EVENT_TABLES)
    assert list(records.status.cases) == ["001"]
    assert list(run.list_files("events")) == [
        "events/journal/001-producer-0/0.arrow",
        "events/manifests/001-producer-0.json",
        "events/marks/case=001/producer-0-00000.parquet",
        "events/sends/case=001/producer-0-00000.parquet",
    ]
    assert read_status(run).status == "running"
    assert read_status(run).pid == os.getpid()


def test_what_stages_took_before_is_kept(run: RunDir) -> None:
    records = RunRecords.resumed(run, "local[2]", EVENT_TABLES)
    assert records.status.stages_s == {"measuring": 2.5}


def test_topics_that_could_not_be_deleted_are_known(run: RunDir) -> None:
    records = RunRecords.resumed(run, "local[2]", EVENT_TABLES)
    assert records.left_topics(PLAN.cases[1]) == ["streamgauge-run-002"]
    assert records.left_topics(PLAN.cases[2]) == []


def test_that_it_was_resumed_is_said_and_what_had_changed(run: RunDir) -> None:
    RunRecords.resumed(run, "local[2]", EVENT_TABLES).end_early("interrupted")
    RunRecords.resumed(run, "local[7]", EVENT_TABLES)
    environment = run.read_json(run.environment)
    first, second = environment["resumed"]
    assert first["after_cases"] == 1
    assert "changed" not in first
    assert second["changed"] == {"master": "local[7]"}
    assert environment["clients"]["s"] == {"producer": {"acks": "1"}}


def test_a_case_cut_off_by_an_interruption_is_done_again_and_a_broken_one_is_not(run: RunDir) -> None:
    status = RunStatus(pid=2**22 + 1)
    status.cases = {"001": CaseStatus("failed", "no luck"), "002": CaseStatus("running")}
    records = RunRecords(run, {}, status)
    records.end_early("interrupted")
    assert read_status(run).cases["002"] == CaseStatus("partial", "interrupted", is_cut_off=True)
    assert list(RunRecords.resumed(run, "local", EVENT_TABLES).status.cases) == ["001"]


def test_a_run_that_goes_on_is_left_alone(run: RunDir) -> None:
    write_status(run, RunStatus(cases=read_status(run).cases))
    with pytest.raises(BadInput, match=f"is still running, in process {os.getpid()}"):
        RunRecords.resumed(run, "local", EVENT_TABLES)
    assert "002" in read_status(run).cases


def test_how_much_a_kill_may_cost_is_said_by_where_the_run_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDir(str(tmp_path / "elsewhere"))
    monkeypatch.setattr(RunDir, "is_quick", False)
    RunRecords.new(run, "local[2]")
    assert read_status(run).kept_after_s == 10.0


def test_nobody_goes_on_while_the_guardian_of_the_killed_run_is_at_it(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It deletes the topics of the case that was cut off, and the case that is done again has the same."""
    asked: list[str] = []

    def never_ends(mark: str) -> bool:
        asked.append(mark)
        return False

    monkeypatch.setattr("streamgauge.launch.run_records.wait_until_seen_to", never_ends)
    before = read_status(run)
    assert before.mark == mark()
    write_status(run, replace(before, mark="other"))
    with pytest.raises(BadInput, match="try again in a minute"):
        RunRecords.resumed(run, "local[2]", EVENT_TABLES)
    assert asked == ["other"]
    assert read_status(run).cases == before.cases, "nothing of it is touched"
