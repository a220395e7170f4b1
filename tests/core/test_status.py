from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import pytest

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import (
    CaseStatus,
    RunStatus,
    in_use,
    note_analysis,
    note_not_kept,
    note_report,
    read_status,
    why_and_what_to_do,
    why_no_report,
    write_status,
)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return RunDir.create(str(tmp_path), "status")


def test_a_status_written_is_read_back(run: RunDir) -> None:
    cases = {"001": CaseStatus("ok"), "002": CaseStatus("failed", "the broker said “no”")}
    status = RunStatus("partial", "interrupted", 17, cases)
    write_status(run, status)
    assert read_status(run) == status


def test_a_new_status_is_running_in_this_process() -> None:
    status = RunStatus()
    assert (status.status, status.reason, status.pid, status.cases) == ("running", None, os.getpid(), {})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "null",
        "[]",
        '"ok"',
        "{}",
        '{"status": "ok"}',
        '{"cases": []}',
        '{"cases": {"001": 5}}',
        '{"cases": {"001": {}}}',
        '{"cases": {"001": {"status": "ok", "mood": "good"}}}',
        '{"cases": {}, "mood": "good"}',
    ],
)
def test_what_is_no_status_is_named_with_its_file(run: RunDir, content: str) -> None:
    run.write_text(run.status, content)
    with pytest.raises(CorruptRun) as caught:
        read_status(run)
    assert str(caught.value).startswith(run.url("status.json"))
    assert "\n" not in str(caught.value)


def test_a_run_without_a_status_says_so(run: RunDir) -> None:
    with pytest.raises(CorruptRun, match=r"status\.json: missing"):
        read_status(run)


GONE: dict[str, Any] = {"pid": 2**22 + 1, "pid_started_s": 1.0}


def test_a_run_whose_process_is_gone_broke_off_and_so_did_its_last_case(run: RunDir) -> None:
    cases = {"001": CaseStatus("ok"), "002": CaseStatus("running")}
    write_status(run, RunStatus(**GONE, cases=cases, is_analysed=False))
    status = read_status(run)
    assert status.status == "partial"
    assert why_and_what_to_do(run, status) == (
        "its process ended before it was done; "
        f"go on with: streamgauge run --resume {run.location}; "
        f"see what was recorded with: streamgauge analyze {run.location}"
    )
    assert [case.status for case in status.cases.values()] == ["ok", "partial"]
    assert not status.cases["002"].is_finished


def test_another_process_with_the_same_number_is_not_taken_for_it(run: RunDir) -> None:
    write_status(run, RunStatus(pid_started_s=RunStatus().pid_started_s - 60))
    assert read_status(run).status == "partial"


def test_a_run_of_another_host_is_believed(run: RunDir) -> None:
    write_status(run, RunStatus(**GONE, host="elsewhere"))
    assert read_status(run).status == "running"


def test_a_run_of_an_earlier_version_is_running_only_in_a_process_of_ours(run: RunDir) -> None:
    run.write_json(run.status, {"status": "running", "reason": None, "pid": 1, "cases": {}})
    assert read_status(run).status == "partial"
    run.write_json(run.status, {"status": "ok", "reason": None, "pid": 1, "cases": {}})
    assert read_status(run).status == "ok"


@pytest.mark.parametrize("measured", ["ok", "failed"])
def test_a_run_that_ended_in_its_analysis_is_not_analysed_and_says_what_goes_on(
    run: RunDir, measured: Literal["ok", "failed"]
) -> None:
    write_status(run, RunStatus(measured, **GONE, is_analysed=False))
    status = read_status(run)
    assert status.status == "not analysed"
    assert status.reason is not None
    assert status.reason.endswith(f"go on with: streamgauge analyze {run.location}")
    note_analysis(run, is_done=True)
    assert read_status(run).status == measured


def test_a_run_that_another_process_analyses_again_is_running_in_that_one(run: RunDir) -> None:
    """It was measured by one that is gone."""
    write_status(run, RunStatus("ok", **GONE))
    assert in_use(run) is None
    note_analysis(run, is_done=False)
    assert (read_status(run).status, read_status(run).pid) == ("running", os.getpid())
    assert in_use(run) is not None
    note_analysis(run, is_done=True)
    assert read_status(run).status == "ok"
    assert in_use(run) is None


def test_one_that_broke_off_is_in_use_while_it_is_analysed(run: RunDir) -> None:
    write_status(run, RunStatus("partial", **GONE))
    note_analysis(run, is_done=False)
    assert in_use(run) is not None
    note_analysis(run, is_done=True)
    assert in_use(run) is None


def test_while_its_process_analyses_it_is_running(run: RunDir) -> None:
    write_status(run, RunStatus("ok", is_analysed=False))
    assert read_status(run).status == "running"


def test_what_broke_off_stays_partial_before_and_after_its_analysis(run: RunDir) -> None:
    write_status(run, RunStatus("partial", "interrupted", **GONE, is_analysed=False))
    assert read_status(run).status == "partial"
    note_analysis(run, is_done=True)
    status = read_status(run)
    assert (status.status, status.reason) == ("partial", "interrupted")
    go_on = f"go on with: streamgauge run --resume {run.location}"
    assert why_and_what_to_do(run, status) == f"interrupted; {go_on}", "it is analysed"


def test_one_that_broke_off_and_is_analysed_does_not_seem_to_go_on(run: RunDir) -> None:
    write_status(run, RunStatus(**GONE, cases={"001": CaseStatus("running")}, is_analysed=False))
    before = read_status(run)
    note_analysis(run, is_done=False)
    note_analysis(run, is_done=True)
    after = read_status(run)
    assert (after.status, after.reason, after.cases) == ("partial", before.reason, before.cases)


def test_one_that_cannot_go_on_says_how_to_do_it_again(run: RunDir) -> None:
    write_status(run, RunStatus(**GONE, can_resume=False))
    said = why_and_what_to_do(run, read_status(run))
    assert said.endswith(f"do it again with: streamgauge run {run.url(run.workload)}")


def test_one_that_ended_while_its_report_was_written_says_so_until_it_is(run: RunDir) -> None:
    write_status(run, RunStatus("ok", **GONE, is_reported=False))
    assert why_no_report(run) == f"its report is not written; go on with: streamgauge report {run.location}"
    assert (read_status(run).status, read_status(run).reason) == ("ok", None), "which goes into the report"
    note_report(run)
    assert why_no_report(run) is None
    write_status(run, RunStatus("ok", is_reported=False))
    assert why_no_report(run) is None, "it is being written"
    write_status(run, RunStatus("ok", **GONE, is_analysed=False, is_reported=False))
    assert why_no_report(run) is None, "it has to be analysed first"


def test_it_says_how_much_a_kill_may_cost_and_an_older_run_more(run: RunDir) -> None:
    write_status(run, RunStatus("ok"))
    assert run.read_json(run.status)["kept_after_s"] == 2.0
    run.write_json(run.status, {"status": "ok", "reason": None, "pid": 1, "cases": {}})
    assert read_status(run).kept_after_s == 5.0
    note_not_kept(run)
    assert read_status(run).kept_after_s is None


def test_a_run_of_many_cases_writes_each_a_few_times_only(run: RunDir) -> None:
    """A status of ten thousand cases, written anew with each, was most of what such a run did."""
    status = RunStatus(pid=17)
    for number in range(450):
        status.cases[f"{number:03d}"] = CaseStatus("running")
        write_status(run, status)
        status.cases[f"{number:03d}"] = CaseStatus("ok", f"{number}")
        write_status(run, status)
        assert len(run.read_json(run.status)["cases"]) <= 200
    found = read_status(run)
    assert (found.cases, found.blocks) == (status.cases, 3)
    note_report(run)
    assert list(read_status(run).cases) == list(status.cases)


def test_a_case_that_is_not_finished_stays_where_it_is_looked_for(run: RunDir) -> None:
    status = RunStatus(pid=2**22 + 1)
    status.cases = {f"{number:03d}": CaseStatus("ok") for number in range(500)}
    status.cases["150"] = CaseStatus("running")
    write_status(run, status)
    assert status.blocks == 1
    assert read_status(run).cases["150"].is_cut_off
