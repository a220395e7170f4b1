"""Members of a system are killed, paused and started again one by one: here plain processes of our own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from streamgauge.core.errors import SystemFailed, Unreachable
from streamgauge.systems.members import Members, try_all
from tests.waiting import wait_for

_SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


class Sleepers:
    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, list[str]()
        self.running = {name: self.start(name) for name in ("broker-1", "broker-2")}
        self.started.clear()
        self.members = Members(self.running, self.start, lambda name: True, self.log)

    def start(self, name: str) -> subprocess.Popen[bytes]:
        self.started.append(name)
        self.log(name).write_text(f"start {len(self.started)} of {name}")
        return subprocess.Popen(_SLEEPER)

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"


@pytest.fixture
def sleepers(tmp_path: Path) -> Iterator[Sleepers]:
    made = Sleepers(tmp_path)
    yield made
    for process in made.running.values():
        process.kill()
        process.wait()


def test_a_killed_member_is_gone_and_comes_back_as_another_process(sleepers: Sleepers) -> None:
    before = sleepers.running["broker-1"]

    sleepers.members.kill("broker-1")
    assert before.poll() is not None
    assert sleepers.members.down == {"broker-1"}
    sleepers.members.start_again("broker-1")

    assert sleepers.running["broker-1"].pid != before.pid
    assert sleepers.running["broker-1"].poll() is None
    assert sleepers.members.down == set()
    assert sleepers.running["broker-2"].poll() is None


def test_one_that_goes_down_by_itself_while_in_danger_is_started_again(sleepers: Sleepers) -> None:
    members, process = sleepers.members, sleepers.running["broker-1"]

    members.endanger("broker-1")
    assert members.may_be_gone == {"broker-1"}
    assert not members.has_ended("broker-1")
    process.kill()
    wait_for(lambda: members.has_ended("broker-1"))
    members.rescue("broker-1")

    assert sleepers.started == ["broker-1"]
    assert sleepers.running["broker-1"].poll() is None
    assert members.may_be_gone == set()


def test_one_that_survived_its_danger_is_left_alone_and_restoring_saves_the_others(
    sleepers: Sleepers,
) -> None:
    members = sleepers.members
    for name in ("broker-1", "broker-2"):
        members.endanger(name)
    members.rescue("broker-1")
    assert sleepers.started == []

    sleepers.running["broker-2"].kill()
    wait_for(lambda: members.has_ended("broker-2"))
    members.restore()

    assert sleepers.started == ["broker-2"]
    assert members.may_be_gone == set()


def test_what_a_member_said_before_it_was_killed_is_kept(sleepers: Sleepers) -> None:
    said = sleepers.log("broker-1").read_text()

    sleepers.members.kill("broker-1")
    sleepers.members.start_again("broker-1")

    assert [file.read_text() for file in sleepers.folder.glob("broker-1-before-*.log")] == [said]


def test_a_paused_member_stands_still_until_it_may_go_on(sleepers: Sleepers) -> None:
    process = psutil.Process(sleepers.running["broker-2"].pid)

    sleepers.members.pause("broker-2")
    wait_for(lambda: process.status() == psutil.STATUS_STOPPED)
    sleepers.members.unpause("broker-2")

    wait_for(lambda: process.status() != psutil.STATUS_STOPPED)
    assert sleepers.members.paused == set()


def test_restoring_brings_all_of_them_back(sleepers: Sleepers) -> None:
    sleepers.members.kill("broker-1")
    sleepers.members.pause("broker-2")

    sleepers.members.restore()

    assert (sleepers.members.down, sleepers.members.paused) == (set(), set())
    assert sleepers.started == ["broker-1"]


def test_nothing_more_is_done_to_a_member_that_is_down(sleepers: Sleepers) -> None:
    sleepers.members.kill("broker-1")

    for done in (sleepers.members.kill, sleepers.members.stop, sleepers.members.pause):
        with pytest.raises(SystemFailed, match="broker-1 is down already"):
            done("broker-1")


def test_one_that_does_not_come_up_again_says_why(sleepers: Sleepers) -> None:
    members = Members(
        sleepers.running,
        lambda name: subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]),
        lambda name: False,
        sleepers.log,
    )
    members.kill("broker-1")

    with pytest.raises(SystemFailed, match="broker-1 ended when it was started again: exit code 3"):
        members.start_again("broker-1")


def test_restoring_tries_every_member_though_one_does_not_come_up(sleepers: Sleepers) -> None:
    def start(name: str) -> subprocess.Popen[bytes]:
        if name == "broker-1":
            return subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
        return sleepers.start(name)

    members = Members(sleepers.running, start, lambda name: name == "broker-2", sleepers.log)
    members.kill("broker-1")
    members.kill("broker-2")

    with pytest.raises(SystemFailed, match="broker-1 ended when it was started again: exit code 3"):
        members.restore()

    assert members.down == {"broker-1"}
    assert sleepers.running["broker-2"].poll() is None


def test_restoring_starts_all_before_it_waits_for_one(sleepers: Sleepers) -> None:
    """Controllers are ready only when most of them run."""
    both = {"broker-1", "broker-2"}
    members = Members(
        sleepers.running, sleepers.start, lambda name: both <= set(sleepers.started), sleepers.log
    )
    for name in sorted(both):
        members.kill(name)

    members.restore(deadline_s=5.0)

    assert members.down == set()


def test_one_that_was_not_ready_in_time_is_waited_for_again_and_not_started_twice(
    sleepers: Sleepers,
) -> None:
    ready: set[str] = set()
    members = Members(sleepers.running, sleepers.start, ready.__contains__, sleepers.log)
    members.kill("broker-1")
    with pytest.raises(Unreachable, match=r"broker-1 was not ready 0\.01 s after it was started again"):
        members.start_again("broker-1", deadline_s=0.01)

    ready.add("broker-1")
    members.restore()

    assert sleepers.started == ["broker-1"]
    assert members.down == set()


def test_all_that_went_wrong_is_said_as_one_error() -> None:
    done: list[int] = []

    def fail(name: str) -> None:
        raise Unreachable(f"{name} is gone")

    with pytest.raises(SystemFailed, match=r"^broker-1 is gone; broker-2 is gone$"):
        try_all([lambda: fail("broker-1"), lambda: done.append(1), lambda: fail("broker-2")])
    assert done == [1]
