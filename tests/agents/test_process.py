from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge.agents import process
from streamgauge.agents.assignment import Assignment
from streamgauge.agents.process import PipeRendezvous
from streamgauge.agents.rendezvous import Start
from streamgauge.core.errors import CaseFailed, GivenUp
from streamgauge.spec.target import Target

from .conftest import Assign
from .stage import READING

pytestmark = pytest.mark.process

PATIENCE_S = 60.0


class Pipes:
    """The launcher's ends of an agent's pipes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.exits: list[int] = []
        self.exited = threading.Event()
        # The agent's process would end itself after its input has: here that only gets noted.
        monkeypatch.setattr(process, "os", SimpleNamespace(_exit=self._note_exit))
        monkeypatch.setattr(process, "_GIVE_UP_S", 0.0)
        to_agent, self._commands = os.pipe()
        self._answers, from_agent = os.pipe()
        self._files = [os.fdopen(to_agent), os.fdopen(from_agent, "w"), os.fdopen(self._answers)]
        before = set(threading.enumerate())
        self.rendezvous = PipeRendezvous(self._files[0], self._files[1])
        (self._listener,) = set(threading.enumerate()) - before

    def say(self, message: object) -> None:
        os.write(self._commands, (json.dumps(message) + "\n").encode())

    def hear(self) -> Any:
        return json.loads(self._files[2].readline())

    def end_input(self) -> None:
        if self._commands >= 0:
            os.close(self._commands)
            self._commands = -1
        self._listener.join(PATIENCE_S)

    def stop_listening(self) -> None:
        self._files[2].close()

    def close(self) -> None:
        self.end_input()
        self.exited.wait(PATIENCE_S)
        for file in self._files:
            try:
                file.close()
            except BrokenPipeError:
                continue

    def _note_exit(self, code: int) -> None:
        self.exits.append(code)
        self.exited.set()


@pytest.fixture
def pipes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipes]:
    made = Pipes(monkeypatch)
    yield made
    made.close()


def until(condition: Any) -> bool:
    """Wait for what a thread is about to do."""
    pause = threading.Event()
    return any(condition() or pause.wait(0.005) for _ in range(int(PATIENCE_S / 0.005)))


def idle() -> None:
    time.sleep(0.001)


def test_what_is_to_be_done_meanwhile_is_done_until_the_start(pipes: Pipes) -> None:
    times = 0

    def meanwhile() -> None:
        nonlocal times
        times += 1
        if times == 3:
            pipes.say({"start": {"at_ns": 5}})
        idle()

    assert pipes.rendezvous.ready(READING, meanwhile).at_ns == 5
    assert times >= 3


def test_ready_tells_the_clocks_and_waits_for_the_start(pipes: Pipes) -> None:
    start = {"at_ns": 5, "reference_offset_ns": 6, "reference_error_ns": 7, "sample_machine": True}
    pipes.say({"start": start})
    assert pipes.rendezvous.ready(READING, meanwhile=idle) == Start(5, 6, 7, True)
    assert pipes.hear() == {
        "ready": {"host": "boot-1", "monotonic_ns": 100, "wall_ns": 1_000_100, "error_ns": 3}
    }


def test_an_agent_that_has_finished_says_so(pipes: Pipes) -> None:
    pipes.rendezvous.finished({(0, 1): 17})
    assert pipes.hear() == {"finished": [[0, 1, 17]]}


def test_producers_have_finished_when_the_launcher_says_so(pipes: Pipes) -> None:
    assert not pipes.rendezvous.producers_finished()
    pipes.say({"producers_finished": [[0, 1, 17]]})
    assert until(pipes.rendezvous.producers_finished)
    assert pipes.rendezvous.acked_ends() == {(0, 1): 17}
    assert not pipes.rendezvous.stopping()


def test_the_end_of_the_input_means_that_the_run_is_given_up(pipes: Pipes) -> None:
    assert not pipes.rendezvous.stopping()
    pipes.end_input()
    assert pipes.rendezvous.stopping()
    assert not pipes.rendezvous.producers_finished()


def test_an_agent_that_is_stuck_after_that_ends_itself(pipes: Pipes) -> None:
    assert pipes.exits == []
    pipes.end_input()
    assert pipes.exited.wait(PATIENCE_S)
    assert pipes.exits == [1]


def test_a_run_given_up_before_the_start_does_not_keep_an_agent_waiting(pipes: Pipes) -> None:
    pipes.end_input()
    with pytest.raises(GivenUp, match="given up before the start"):
        pipes.rendezvous.ready(READING, meanwhile=idle)


def test_others_that_are_never_ready_are_not_waited_for_for_ever(
    pipes: Pipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "START_DEADLINE_S", 0.01)
    with pytest.raises(CaseFailed, match=r"not ready within 0\.01 s"):
        pipes.rendezvous.ready(READING, meanwhile=idle)


def test_a_launcher_that_is_gone_stops_the_agent(pipes: Pipes) -> None:
    pipes.stop_listening()
    pipes.rendezvous.finished({})
    assert pipes.rendezvous.stopping()


class Child:
    """A real agent process, with the simulated broker."""

    def __init__(self, assignment: Assignment) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamgauge.agents.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assign(assignment)

    def assign(self, assignment: Assignment) -> None:
        self.say({"assignment": json.loads(assignment.model_dump_json(by_alias=True))})

    def say(self, message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def hear(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def end(self) -> int:
        self._process.communicate(timeout=PATIENCE_S)
        return self._process.returncode


@pytest.fixture
def simulated(assign: Assign, tmp_path: Path) -> Assignment:
    (tmp_path / "broker" / "t-0").mkdir(parents=True)
    return assign(messages=50, rate="1k/s").model_copy(
        update={
            "target": Target(name="s", driver="simulated"),
            "endpoints": {"folder": str(tmp_path / "broker"), "partitions": "1"},
        }
    )


def test_a_producer_in_a_process_of_its_own_tells_all_stations_of_its_life(simulated: Assignment) -> None:
    child = Child(simulated)
    ready = child.hear()["ready"]
    child.say({"start": {"at_ns": ready["monotonic_ns"]}})
    assert child.hear() == {"finished": []}
    done = child.hear()["done"]
    assert child.end() == 0
    assert (done["outcome"], done["counts"]["sends"]) == ("done", 50)
    assert simulated.run_dir.read_json(simulated.run_dir.manifest("001", "producer-0")) == done


def test_one_process_takes_case_after_case(simulated: Assignment) -> None:
    child = Child(simulated)
    for case in ("001", "002"):
        if case != "001":
            child.assign(simulated.model_copy(update={"case": case}))
        ready = child.hear()["ready"]
        child.say({"start": {"at_ns": ready["monotonic_ns"]}})
        assert child.hear() == {"finished": []}
        done = child.hear()["done"]
        assert (done["case"], done["outcome"], done["counts"]["sends"]) == (case, "done", 50)
    assert child.end() == 0


def test_an_agent_that_cannot_begin_says_why_and_ends_with_1(simulated: Assignment) -> None:
    child = Child(simulated.model_copy(update={"target": Target(name="s", driver="no_such_driver")}))
    done = child.hear()["done"]
    assert child.end() == 1
    assert (done["outcome"], done["error"]) == ("failed", "BadInput")
    assert "no_such_driver" in done["reason"]
