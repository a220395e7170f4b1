"""A process beside a case comes with it and goes with it."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from streamgauge.analysis.rolling import beside
from streamgauge.analysis.rolling.beside import RollingUp
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan, read_plan
from tests.analysis.rolling.rolled_runs import written
from tests.analysis.rolling.test_process import a_case
from tests.waiting import wait_for


def started() -> list[psutil.Process]:
    children = psutil.Process().children()
    return [child for child in children if "rolling.process" in " ".join(child.cmdline())]


@pytest.mark.process
def test_past_the_limit_a_process_of_the_least_priority_is_there_until_the_case_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "LOOK_S", 0.05)
    run = written(tmp_path, [a_case(1)], rows=500).run
    with RollingUp().beside(run, read_plan(run).cases[0]):
        wait_for(lambda: [child.nice() for child in started()] == [19])
    assert started() == []
    assert run.read_text(run.log("roll-up")) == ""


def test_below_it_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "LOOK_S", 0.01)
    looks: list[str] = []

    def looked(run: RunDir, case: str) -> int:
        looks.append(case)
        return 10

    monkeypatch.setattr(beside, "raw_bytes", looked)
    run = written(tmp_path, [a_case(10)], rows=500).run
    with RollingUp().beside(run, read_plan(run).cases[0]):
        wait_for(lambda: len(looks) > 2)
        assert started() == []
    assert not run.has(run.log("roll-up"))


def test_a_family_that_reads_all_events_is_told_so(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, [a_case(1)]).run)
    assert RollingUp().why_not(plan) is None
    assert "fanout" in str(RollingUp().why_not(Plan.model_construct(kind="fanout", cases=())))
