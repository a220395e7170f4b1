"""A process beside a case comes with it and goes with it."""

from __future__ import annotations

from contextlib import suppress
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
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.ZombieProcess):  # it has ended, and nobody has asked yet
            found += [child] if "rolling.process" in " ".join(child.cmdline()) else []
    return found


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


@pytest.mark.process
def test_one_that_dies_is_started_again_and_that_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "LOOK_S", 0.05)
    monkeypatch.setattr(beside, "_SOONEST_S", 0.1)
    run = written(tmp_path, [a_case(1)], rows=500).run
    with RollingUp().beside(run, read_plan(run).cases[0]):
        wait_for(lambda: [child.nice() for child in started()] == [19])
        [first] = started()
        first.kill()
        wait_for(lambda: [child.nice() for child in started() if child.pid != first.pid] == [19])
    assert started() == []
    assert "roll-up process ended with -9; started again in 0.1 s" in run.read_text(run.log("roll-up"))


def test_one_that_cannot_be_started_is_tried_less_and_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    for name, seconds in {"LOOK_S": 0.01, "_SOONEST_S": 0.01, "_LATEST_S": 0.04}.items():
        monkeypatch.setattr(beside, name, seconds)
    monkeypatch.setattr(beside._Beside, "_started", refused)
    run = written(tmp_path, [a_case(1)], rows=500).run
    log = run.local(run.log("roll-up"))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    with RollingUp().beside(run, read_plan(run).cases[0]):
        wait_for(lambda: log.read_text().count("\n") >= 4)
    said = [line.partition("started again in ")[2] for line in log.read_text().splitlines()[:4]]
    assert said == ["0.01 s", "0.02 s", "0.04 s", "0.04 s"]
    assert "Cannot allocate memory" in log.read_text()


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
