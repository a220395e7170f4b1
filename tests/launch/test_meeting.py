from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.launch.meeting import Meeting


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return RunDir(str(tmp_path / "run"))


def test_a_call_is_heard_with_what_is_said_in_it(run: RunDir) -> None:
    launcher, task = Meeting(run, "m"), Meeting(run, "m")
    said = launcher.call({"producer-0": {"n": 1}})
    called = task.next_call("producer-0")
    assert called is not None
    heard, assignment = called
    assert assignment == {"n": 1}
    assert heard.hear("start") is None
    said.say_each("start", {"producer-0": 7, "producer-1": 8}, {"all": True})
    assert heard.hear("start") == {"all": True}
    assert heard.hear_own("start", "producer-0") == 7


def test_who_has_no_part_in_a_case_hears_of_it(run: RunDir) -> None:
    Meeting(run, "m").call({"producer-0": {"n": 1}})
    called = Meeting(run, "m").next_call("consumer-0")
    assert called is not None
    assert called[1] is None


@pytest.mark.parametrize("is_served", [True, False])
def test_many_tasks_look_less_often_and_all_of_them_hear_in_time(run: RunDir, is_served: bool) -> None:
    """A thousand that look twenty times a second are more than one launcher can answer."""
    few, many = (Meeting(run, "m", is_served=is_served, members=count) for count in (2, 1000))
    assert few.look_s == (0.05 if is_served else 0.01)
    assert 1000 / many.look_s <= 2000
    assert few.launchers_look_s == 0.01
    for meeting in (few, many):
        assert meeting.lead_s > 2 * meeting.look_s


def test_many_on_this_host_have_begun_when_they_start(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """They share its cores for what each computes before its first message."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert Meeting(run, "m", members=4).start_lead_s < 0.6
    many = Meeting(run, "m", members=256)
    assert many.start_lead_s - many.lead_s > 5
    elsewhere = Meeting(run, "m", members=256, is_served=True)
    assert elsewhere.start_lead_s == elsewhere.lead_s


def test_what_an_agent_tells_may_be_nothing(run: RunDir) -> None:
    launcher, task = Meeting(run, "m"), Meeting(run, "m")
    said = launcher.call({})
    called = task.next_call("producer-0")
    assert called is not None
    assert said.told("producer-0", "ready") is None
    called[0].tell("producer-0", "ready", None)
    assert said.told("producer-0", "ready") == (None,)
    assert said.told("producer-1", "ready") is None


def test_calls_come_one_after_another_and_nothing_of_one_is_in_the_next(run: RunDir) -> None:
    launcher, task = Meeting(run, "m"), Meeting(run, "m")
    launcher.call({"case": 1}).say("give_up", True)
    launcher.call({"case": 2})
    launcher.end()
    first, second = task.next_call("case"), task.next_call("case")
    assert first is not None
    assert second is not None
    assert (first[1], first[0].hear("give_up")) == (1, True)
    assert (second[1], second[0].hear("give_up")) == (2, None)
    assert task.next_call("case") is None


def test_a_task_waits_for_a_call_that_has_not_come_yet(run: RunDir) -> None:
    launcher, task = Meeting(run, "m"), Meeting(run, "m")
    threading.Timer(0.05, lambda: launcher.call({"late": True})).start()
    called = task.next_call("late")
    assert called is not None
    assert called[1] is True


def test_crews_of_one_run_do_not_hear_each_other(run: RunDir) -> None:
    Meeting(run, "one").call({"case": 1})
    Meeting(run, "two").call({"case": 2})
    called = Meeting(run, "two").next_call("case")
    assert called is not None
    assert called[1] == 2


def test_nothing_is_left_of_it(run: RunDir) -> None:
    meeting = Meeting(run, "m")
    meeting.call({})
    meeting.clear()
    assert list(run.list_files("")) == []
    meeting.clear()
