"""A search as the launcher leads it: cases are planned one by one, judged, and found again after a break."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.core.errors import BadInput
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus
from streamgauge.families.limit.course import Look, SearchCourse
from streamgauge.families.limit.search_file import read_search, state_of
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.launch.progress import RunProgress
from streamgauge.launch.run_cycle import RunCycle
from streamgauge.launch.run_records import RunRecords
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan, read_plan, write_plan
from streamgauge.spec.workload import Workload
from streamgauge.tables.events import EVENT_TABLES

KNEE_PER_S = 5000.0


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return planned(tmp_path)


def planned(folder: Path, **search: object) -> RunDir:
    run = RunDir.create(str(folder), "limit")
    content = {
        "targets": [{"name": "sim", "driver": "simulated"}],
        "load": {"duration": "2s", "producers": 2},
        "search": {"slo": ["p99<20ms"], **search},
    }
    write_plan(make_plan(Workload.model_validate(content), run.id), run)
    return run


def look(run: RunDir, case: Case) -> dict[str, float | None]:
    assert isinstance(case.load.rate, float)
    late = case.load.rate > KNEE_PER_S
    return {"p99": 200.0 if late else 5.0, "delivered_per_s": case.load.rate, "sent": 2 * case.load.rate}


def lead(run: RunDir, most: int = 100, records: RunRecords | None = None, look: Look = look) -> SearchCourse:
    """Run at most so many cases, each of them well."""
    plan = read_plan(run)
    records = records or RunRecords.new(run, "local")
    leading = SearchCourse(run, plan, records, look)
    progress = RunProgress(run, None, Console(quiet=True), is_shown=False)
    for count, case in enumerate(leading.cases(progress), 1):
        records.begin_case(case)
        if count > most:
            records.end_early("interrupted")
            break
        records.end_case(case, CaseStatus("ok"), {})
    return leading


def test_cases_are_planned_until_the_knee_is_found(run: RunDir) -> None:
    leading = lead(run)
    plan, record = read_plan(run), read_search(run)
    assert plan == leading.plan
    assert [case.id for case in plan.cases] == [trial.case for trial in record.trials]
    assert [case.load.rate for case in plan.cases] == [trial.rate_per_s for trial in record.trials]
    assert record.ended == "found"
    assert state_of(plan, record).held_per_s == pytest.approx(KNEE_PER_S, rel=0.02)
    assert leading.failure() is None


def test_warm_up_goes_with_the_rate_and_is_longest_at_first(run: RunDir) -> None:
    lead(run)
    first, second, third, *_ = (case.load for case in read_plan(run).cases)
    assert (first.rate, first.warm_up_messages) == (1000, 5000)
    assert (second.rate, second.warm_up_messages) == (1000, 1000)
    assert (third.rate, third.warm_up_messages) == (2000, 2000)


def test_a_search_that_was_cut_off_goes_on_where_it_was(run: RunDir, tmp_path: Path) -> None:
    other = planned(tmp_path)
    lead(other)
    lead(run, most=5)
    assert len(read_plan(run).cases) == 6
    assert read_search(run).ended is None
    lead(run, records=RunRecords.resumed(run, "local", EVENT_TABLES))
    rates = [[case.load.rate for case in read_plan(each).cases] for each in (run, other)]
    assert rates[0] == rates[1]
    assert [t.case for t in read_search(run).trials] == [case.id for case in read_plan(run).cases]


def test_a_case_that_ended_unjudged_is_judged_and_not_run_again(run: RunDir) -> None:
    lead(run, most=3)
    records = RunRecords.resumed(run, "local", EVENT_TABLES)
    [*_, cut_off] = read_plan(run).cases
    records.end_case(cut_off, CaseStatus("ok"), {})
    lead(run, records=records)
    trials = [trial.case for trial in read_search(run).trials]
    assert trials == [f"{number:03d}" for number in range(1, len(trials) + 1)]


def test_a_case_that_broke_does_not_hold(run: RunDir) -> None:
    plan, records = read_plan(run), RunRecords.new(run, "local")
    progress = RunProgress(run, None, Console(quiet=True), is_shown=False)
    cases = SearchCourse(run, plan, records, look).cases(progress)
    records.end_case(next(cases), CaseStatus("partial", "agent producer-0 died"), {})
    next(cases)
    [trial] = read_search(run).trials
    assert trial.missed == ["agent producer-0 died"]


def test_when_no_rate_can_be_decided_the_search_has_not_failed(run: RunDir) -> None:
    """Nobody knows: that is another exit code than a miss."""

    def rising(run: RunDir, case: Case) -> dict[str, float | None]:
        return {**look(run, case), "p99": 5.0, "rose_from_ms": 1.0, "rose_to_ms": 4.0}

    assert lead(run, look=rising).failure() is None
    record = read_search(run)
    assert record.ended == "not decidable"
    assert {trial.outcome for trial in record.trials} == {Outcome.NOT_DECIDABLE}


def test_no_step_begins_that_would_end_too_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planned(tmp_path, time_limit="35s")
    now_s = 0.0

    def ten_seconds_later() -> float:
        nonlocal now_s
        now_s += 5.0  # asked before and after each case
        return now_s

    monkeypatch.setattr("streamgauge.families.limit.course.time.monotonic", ten_seconds_later)
    lead(run)
    record = read_search(run)
    assert record.ended == "time"
    assert len(record.trials) == 7


def test_a_comparison_is_not_resumed(tmp_path: Path) -> None:
    run = RunDir.create(str(tmp_path), "compare")
    target = {"driver": "simulated"}
    content = {"targets": [{"name": "a", **target}, {"name": "b", **target}], "comparison": {"repeat": 1}}
    write_plan(make_plan(Workload.model_validate(content), run.id), run)
    with pytest.raises(BadInput, match="the rounds of a comparison belong together"):
        RunCycle.resumed(
            run,
            master=None,
            live=LiveWish(LiveMode.off),
            console=Console(quiet=True),
            show_progress=False,
            debug=False,
        )
