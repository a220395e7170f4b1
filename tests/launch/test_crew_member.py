"""One task of a crew, with an agent process that only pretends."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamgauge.agents.assignment import Assignment
from streamgauge.core.environment import host_name
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.launch import crew_member
from streamgauge.launch.crew_member import CrewMember
from streamgauge.launch.meeting import Call, Meeting, kill_word
from streamgauge.plan.plan_file import make_plan
from streamgauge.recording.kept import Keeping
from streamgauge.spec.workload import Workload
from streamgauge.tables.events import SENDS

AGENT = "producer-0"
PATIENCE_S = 60.0
READY: dict[str, Any] = {"ready": {"host": "h"}}


def done(outcome: str = "done") -> dict[str, Any]:
    return {"done": {"agent": AGENT, "case": "001", "outcome": outcome, "reason": None}}


class FakeChild:
    """Answers what its script says to each thing it hears."""

    def __init__(self, script: dict[str, list[dict[str, Any]]]) -> None:
        self._script, self._answers = script, queue.Queue[dict[str, Any]]()
        self.heard: list[str] = []
        self.said: dict[str, Any] = {}
        self.assignments: list[Assignment] = []
        self.is_alive = True
        self.closed = self.killed = False

    def assign(self, assignment: Assignment) -> None:
        self.assignments.append(assignment)
        self._hear("assignment")

    def say(self, message: dict[str, Any]) -> None:
        [word] = message
        self.said[word] = message[word]
        self._hear(word)

    def answer(self, timeout_s: float) -> dict[str, Any] | None:
        try:
            return self._answers.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            return None

    def end_input(self) -> None:
        self._hear("end")

    def close(self) -> None:
        self.closed = True

    def kill(self) -> None:
        self.killed = True

    def _hear(self, word: str) -> None:
        self.heard.append(word)
        for answer in self._script.get(word, []):
            self.is_alive = self.is_alive and "died" not in answer
            self._answers.put(answer)


class Stage:
    """A launcher's side of the meeting, and a member that serves in a thread."""

    def __init__(self, folder: Path, *faults: dict[str, Any]) -> None:
        self.run = RunDir(str(folder / "run"))
        self.members_run = self.run
        """As the task has it: it may be given as a URL."""
        self.launcher = Meeting(self.run, "m")
        self.children: list[FakeChild] = []
        self.scripts: list[dict[str, list[dict[str, Any]]]] = []
        load = {"messages": 5, "faults": list(faults)}
        workload = {"targets": [{"name": "s", "driver": "simulated"}], "load": load}
        self._case = make_plan(Workload.model_validate(workload), "run").cases[0]
        self._thread: threading.Thread | None = None

    def serve(self) -> None:
        member: Any = CrewMember(
            self.members_run, AGENT, Meeting(self.run, "m"), {"SECRET": "hunter2"}, start_process=self._start
        )
        self._thread = threading.Thread(target=member.serve, daemon=True)
        self._thread.start()

    def call(self) -> Call:
        assignment = Assignment.of(self.run, self._case, self._case.agents[0], {})
        return self.launcher.call({AGENT: assignment.model_dump(mode="json", by_alias=True)})

    def told(self, call: Call, word: str) -> Any:
        return until(lambda: call.told(AGENT, word))[0]

    def end(self) -> None:
        self.launcher.end()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)
            assert not self._thread.is_alive()

    def _start(self, run: RunDir, agent: str) -> Any:
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        self.children.append(FakeChild(script))
        return self.children[-1]


def until(condition: Callable[[], Any]) -> Any:
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.005)):
        if (found := condition()) is not None:
            return found
        pause.wait(0.005)
    raise AssertionError("it did not happen in time")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.end()


GOOD: dict[str, list[dict[str, Any]]] = {
    "assignment": [READY],
    "start": [{"finished": [[0, 0, 5]]}],
    "producers_finished": [done()],
}


def lead(stage: Stage, call: Call) -> Any:
    assert stage.told(call, "ready") == {"reading": READY["ready"], "hostname": host_name()}
    call.say_each("start", {AGENT: {"at_ns": 1}}, {})
    assert stage.told(call, "finished") == [[0, 0, 5]]
    call.say("producers_finished", [])
    return stage.told(call, "done")


def test_what_all_are_told_alike_comes_with_the_start(stage: Stage) -> None:
    stage.scripts = [GOOD]
    stage.serve()
    call = stage.call()
    stage.told(call, "ready")
    everyone = {"producer_offsets_ns": {"0": 7}}
    call.say_each("start", {AGENT: {"at_ns": 1}, "consumer-0": {"at_ns": 2}}, everyone)
    stage.told(call, "finished")
    assert stage.children[0].said["start"] == {"at_ns": 1, **everyone}
    call.say("producers_finished", [])
    stage.told(call, "done")


def test_one_process_is_led_through_case_after_case(stage: Stage) -> None:
    stage.scripts = [GOOD]
    stage.serve()
    for _ in range(3):
        assert lead(stage, stage.call())["outcome"] == "done"
    stage.end()
    [child] = stage.children
    assert child.heard == ["assignment", "start", "producers_finished"] * 3
    assert child.closed


def test_the_secrets_reach_the_agent_and_no_file(stage: Stage) -> None:
    stage.scripts = [GOOD]
    stage.serve()
    lead(stage, stage.call())
    assert stage.children[0].assignments[0].environment == {"SECRET": "hunter2"}
    for path in stage.run.list_files(""):
        assert "hunter2" not in stage.run.read_text(path)


def test_a_case_without_this_agent_is_none_of_its_business(stage: Stage) -> None:
    stage.scripts = [GOOD]
    stage.serve()
    stage.launcher.call({"consumer-7": {}})
    assert lead(stage, stage.call())["outcome"] == "done"
    assert len(stage.children[0].assignments) == 1


def test_a_process_that_dies_is_told_and_replaced_for_the_next_case(stage: Stage) -> None:
    stage.scripts = [{"assignment": [READY], "start": [{"died": "agent died: killed by SIGKILL"}]}, GOOD]
    stage.serve()
    call = stage.call()
    stage.told(call, "ready")
    call.say_each("start", {AGENT: {"at_ns": 1}}, {})
    manifest = stage.told(call, "done")
    assert (manifest["outcome"], manifest["reason"]) == ("died", "agent died: killed by SIGKILL")
    assert stage.run.read_json(stage.run.manifest("001", AGENT)) == manifest
    assert lead(stage, stage.call())["outcome"] == "done"
    assert len(stage.children) == 2


def test_an_agent_is_killed_when_its_fault_is_due_and_what_it_recorded_is_written(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"kind": "producer_kill", "at": 1})
    stage.scripts = [{"assignment": [READY]}, GOOD]
    stage.serve()
    call = stage.call()
    stage.told(call, "ready")
    call.say_each("start", {AGENT: {"at_ns": 1}}, {})
    first = stage.children[0]
    folder = Path(first.assignments[0].kept or "")
    chunk = Keeping(folder).chunk(SENDS, 8, number=0)
    chunk.begin(0)
    chunk.columns["sent_ns"][:3] = 77

    call.say(kill_word(AGENT), True)

    manifest = stage.told(call, "done")
    assert first.killed
    assert (manifest["outcome"], manifest["counts"]) == ("killed", {"sends": 3})
    assert stage.run.read_json(stage.run.manifest("001", AGENT)) == manifest
    assert lead(stage, stage.call())["outcome"] == "done"  # by another process
    stage.end()
    assert not folder.exists()


def test_an_agent_that_nobody_kills_keeps_its_rows_to_itself(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"kind": "producer_kill", "at": 1, "number": 1})
    stage.scripts = [GOOD]
    stage.serve()
    lead(stage, stage.call())
    stage.end()
    assert stage.children[0].assignments[0].kept is None


def test_a_process_in_which_something_failed_is_replaced_too(stage: Stage) -> None:
    stage.scripts = [{"assignment": [done("failed")]}, GOOD]
    stage.serve()
    assert stage.told(stage.call(), "done")["outcome"] == "failed"
    assert lead(stage, stage.call())["outcome"] == "done"
    assert [child.closed for child in stage.children] == [True, False]


def test_a_case_given_up_ends_the_process_which_keeps_what_it_has(stage: Stage) -> None:
    stage.scripts = [{"assignment": [READY], "end": [done("stopped")]}, GOOD]
    stage.serve()
    call = stage.call()
    stage.told(call, "ready")
    call.say("give_up", True)
    assert stage.told(call, "done")["outcome"] == "stopped"
    assert stage.children[0].heard == ["assignment", "end"]
    assert lead(stage, stage.call())["outcome"] == "done"


def test_a_process_that_does_not_end_when_given_up_is_killed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_member, "_END_DEADLINE_S", 0.05)
    stage.scripts = [{"assignment": [READY]}, GOOD]
    stage.serve()
    call = stage.call()
    stage.told(call, "ready")
    call.say("give_up", True)
    assert stage.told(call, "done")["outcome"] == "died"
    assert stage.children[0].killed
    assert lead(stage, stage.call())["outcome"] == "done"


def test_a_host_that_may_not_write_where_events_go_is_refused_before_the_load(stage: Stage) -> None:
    stage.members_run = RunDir(stage.run.local().as_uri())
    in_the_way = stage.run.local("events")
    in_the_way.parent.mkdir()
    in_the_way.write_text("no folder")
    stage.scripts = [GOOD]
    stage.serve()
    refused = stage.told(stage.call(), "done")
    assert (refused["outcome"], refused["error"], refused["hostname"]) == ("failed", "Refused", host_name())
    assert "cannot write to the run folder: " in refused["reason"]
    assert stage.children == [], "its process would write its log there, too"
    in_the_way.unlink()  # it is tried again, as long as it fails
    assert lead(stage, stage.call())["outcome"] == "done"
    assert list(stage.run.list_files("events")) == [], "what was written to try it is gone"


def test_an_agent_that_dies_on_a_full_disk_is_told_all_the_same(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise BadInput("the disk is full")

    monkeypatch.setattr(crew_member, "write_manifest", full)
    stage.scripts = [{"assignment": [{"died": "agent died: killed by SIGBUS"}]}, GOOD]
    stage.serve()
    assert stage.told(stage.call(), "done")["reason"] == "agent died: killed by SIGBUS"
    assert lead(stage, stage.call())["outcome"] == "done"
