"""The referee with real processes, on the simulated broker."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.life import live_through
from streamgauge.agents.piped_process import PipedProcess
from streamgauge.core.errors import BadInput, CaseFailed
from streamgauge.core.run_dir import RunDir
from streamgauge.drivers.registry import open_driver
from streamgauge.drivers.simulated.driver import Simulated
from streamgauge.families.compare.library_processes import LibraryProcesses
from streamgauge.families.compare.open_cells import OpenCells
from streamgauge.families.compare.planned_comparison import SIDES, Cell, PlannedComparison, order
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.plan.warm_up_file import WarmUp
from streamgauge.spec.workload import Workload
from tests.agents.fakes import FakeRendezvous

LAWS = {"read_ns": 100, "connect_ms": 2, "latency": {"law": "lognormal", "median_ms": 1, "sigma": 0.2}}


FEW_COME = {"loss": 0.9, "seed": 6}
TOGETHER: dict[str, Any] = {"process": "shared"}
"""Where it is not the point that each side has a process of its own: to start one takes most of a test."""


class Comparison:
    """A comparison on the simulated broker, ready to be led."""

    def __init__(self, folder: Path, b: dict[str, Any] | None = None, **comparison: Any) -> None:
        targets = [
            {"name": "one", "driver": "simulated", "settings": {**LAWS, "seed": 1}},
            {"name": "two", "driver": "simulated", "settings": {**LAWS, "seed": 2, **(b or {})}},
        ]
        content = {
            "targets": targets,
            "comparison": {
                "lengths": [10],
                "messages": [5],
                "repeat": 2,
                "warm_up_messages": 5,
                **comparison,
            },
        }
        self.run = RunDir.create(str(folder), "comparison")
        [case] = make_plan(Workload.model_validate(content), self.run.id).cases
        self.driver = open_driver(case.target, {})
        self.driver.prepare_topics(case.topic_settings, ())
        self.assignment = Assignment.of(self.run, case, case.agents[0], self.driver.endpoints())

    def lead(self, rendezvous: FakeRendezvous | None = None) -> Any:
        return live_through(self.assignment, rendezvous or FakeRendezvous())

    def rows(self, table: str = "trials") -> list[dict[str, Any]]:
        folder = self.run.local(self.run.events(table, "001"))
        return pq.read_table(folder, partitioning=None).to_pylist() if folder.exists() else []


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Any]:
    made: list[Comparison] = []

    def make(**options: Any) -> Comparison:
        made.append(Comparison(tmp_path, **options))
        return made[-1]

    yield make
    for comparison in made:
        comparison.driver.close()


@pytest.mark.parametrize("process", ["own", "shared"])
def test_every_side_has_its_turns_in_the_planned_order(arena: Any, process: str) -> None:
    planned = arena(process=process, messages=[5, 7])
    manifest = planned.lead()
    assert (manifest.outcome, manifest.reason) == ("done", None)
    rows = planned.rows()
    assert manifest.counts["trials"] == len(rows) == 2 * 3 * 3 * 4
    assert all(row["error"] is None and row["missing"] == 0 for row in rows)
    first = [
        row
        for row in rows
        if (row["messages"], row["operation"], row["temperature"]) == (5, "produce", "warm")
    ]
    order = [row["side"] for row in sorted(first, key=lambda row: row["position"])]
    assert order == ["a", "b", "control", "a", "b", "control", "control", "b", "a"]
    assert {row["side"] for row in planned.rows("client_settings")} == {"a", "b"}
    logs = {path.name for path in planned.run.local("logs").iterdir()}
    assert logs == (
        {"001-a-b-control.log"} if process == "shared" else {f"001-{s}.log" for s in ("a", "b", "control")}
    )
    # No topic is left behind.
    assert list(Path(planned.driver.endpoints()["folder"]).iterdir()) == []


def test_topics_stay_where_that_is_wanted(arena: Any) -> None:
    planned = arena(**TOGETHER, topics={"name": "kept", "keep": True}, repeat=1)
    planned.lead()
    left = {path.name for path in Path(planned.driver.endpoints()["folder"]).iterdir()}
    assert len(left) == 2 * 3 * 2
    assert "kept__one-control__10__3" in left


def test_a_side_that_keeps_failing_ends_its_cell_and_the_next_goes_on(arena: Any) -> None:
    # The one message of the warm-up comes, and of the others nearly none.
    planned = arena(b=FEW_COME, repeat=6, messages=[5, 7], warm_up_messages=1)
    assert planned.lead().outcome == "done"
    rows = planned.rows()
    assert {row["error"] for row in rows if row["side"] != "b"} == {None}
    repetitions = {(row["messages"], row["repetition"]) for row in rows}
    assert repetitions == {(m, r) for m in (5, 7) for r in (-1, 0, 1)}


def test_a_process_that_dies_marks_its_turn_and_is_begun_anew(
    arena: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = arena(repeat=3)
    turns = 0
    really = LibraryProcesses.take_turn

    def deadly(self: Any, turn: Any, *rest: Any) -> Any:
        nonlocal turns
        turns += 1
        if turns == 4:
            os.kill(self._processes[turn.side]._process.pid, signal.SIGKILL)
        return really(self, turn, *rest)

    monkeypatch.setattr(LibraryProcesses, "take_turn", deadly)
    assert planned.lead().outcome == "done"
    rows = planned.rows()
    failed = [row for row in rows if row["error"] is not None]
    assert {(row["side"], row["repetition"]) for row in failed} == {("a", 0)}
    assert {row["error"] for row in failed} == {"the library's process died: killed by SIGKILL"}
    assert len(rows) == 4 * 3 * 4


def test_a_process_that_does_not_answer_is_ended(arena: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A second for what takes a millisecond: a busy machine may stop anybody for a while.
    planned = arena(repeat=1, test_timeout="1s", produce_only=True)
    monkeypatch.setattr("streamgauge.families.compare.library_processes._MARGIN_S", 4.0)
    really = PipedProcess.say
    deaf: list[Any] = []

    def say(self: Any, message: dict[str, Any]) -> None:
        if "turn" in message and message["turn"]["side"] == "b" and not deaf:
            deaf.append(self)
            os.kill(self._process.pid, signal.SIGSTOP)
        really(self, message)

    monkeypatch.setattr(PipedProcess, "say", say)
    assert planned.lead().outcome == "done"
    failed = [row for row in planned.rows() if row["error"] is not None]
    assert {(row["side"], row["repetition"]) for row in failed} == {("b", -1)}
    assert all("did not answer within 6 s" in row["error"] for row in failed)


def test_what_cannot_work_is_said_at_once(arena: Any) -> None:
    planned = arena(b={"loss": 1.0}, warm_up_messages=5)
    planned.assignment.work.b.settings["loss"] = "all"
    manifest = planned.lead()
    assert manifest.outcome == "failed"
    assert manifest.error == "BadInput"
    assert manifest.reason.startswith("two: target two: settings: loss: must be a valid number")


def test_a_java_that_cannot_start_says_why(tmp_path: Path) -> None:
    target = {
        "driver": "kafka_java",
        "settings": {"bootstrap": "127.0.0.1:1", "java_options": ["-XX:+NoSuchOption"]},
    }
    content = {
        "targets": [{"name": "x", **target}, {"name": "y", **target}],
        "comparison": {"process": "shared"},
    }
    run = RunDir.create(str(tmp_path), "java")
    [case] = make_plan(Workload.model_validate(content), run.id).cases
    libraries = LibraryProcesses(
        Assignment.of(run, case, case.agents[0], {}), as_work(case.work, PlannedComparison), {}
    )
    try:
        libraries.start()
        with pytest.raises(CaseFailed, match=r"x and y: .*Unrecognized VM option 'NoSuchOption'"):
            libraries.warm_up(dict.fromkeys(SIDES, "t"), {"t": {(0, 0): 0}})
    finally:
        libraries.close()


def test_a_topic_that_cannot_be_deleted_is_left(arena: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = arena(**TOGETHER, repeat=1)

    def refuse(self: object, names: list[str]) -> None:
        raise BadInput("not now")

    monkeypatch.setattr(Simulated, "remove_topics", refuse)
    assert planned.lead().outcome == "done"
    assert len(planned.rows()) == 2 * 3 * 4


def test_a_run_that_is_given_up_keeps_its_trials(arena: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    planned, really = arena(**TOGETHER, repeat=50), PipedProcess.say
    turns: list[object] = []

    def say(self: Any, message: dict[str, Any]) -> None:
        turns.extend(["turn"] * ("turn" in message))
        really(self, message)

    monkeypatch.setattr(PipedProcess, "say", say)
    manifest = planned.lead(FakeRendezvous(stopping=lambda: len(turns) > 10))
    assert manifest.outcome == "stopped"
    assert 0 < len(planned.rows()) < 51 * 3 * 4


CLEAR = {"connect_ms": 8, "latency": {"law": "lognormal", "median_ms": 4, "sigma": 0.2}}
"""B takes four times as long, which every cell shows as soon as the rules allow."""


def rounds_of(comparison: Comparison) -> dict[int, int]:
    """By messages: how many rounds that count each cell had."""
    rows = comparison.rows()
    counted = {(row["messages"], row["repetition"]) for row in rows if row["repetition"] >= 0}
    return dict(sorted(Counter(messages for messages, _ in counted).items()))


def test_rounds_are_added_until_there_is_a_verdict(arena: Any) -> None:
    planned = arena(**TOGETHER, b=CLEAR, messages=[5, 7], repeat=2, until_decided=True, produce_only=True)
    assert planned.lead().outcome == "done"
    # Four comparisons: no difference is believed before round 12, and six are added at a time.
    assert rounds_of(planned) == {5: 14, 7: 14}
    rows = [row for row in planned.rows() if (row["messages"], row["temperature"]) == (5, "warm")]
    sides = [row["side"] for row in sorted(rows, key=lambda row: row["position"])]
    assert sides[3:] == [side for number in range(14) for side in order(number)]
    assert len({row["topic"] for row in planned.rows()}) == 2 * 15 * 3 * 2
    assert list(Path(planned.driver.endpoints()["folder"]).iterdir()) == [], "no topic is left behind"


def test_only_a_cell_that_is_open_has_more_rounds(arena: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = arena(**TOGETHER, b=CLEAR, messages=[5, 7], repeat=14, until_decided=True, produce_only=True)
    really = OpenCells.still_open
    asked: list[list[int]] = []

    def still_open(self: OpenCells) -> list[Cell]:
        """As if the second cell had needed one look more."""
        assert really(self) == []
        asked.append([])
        return self._planned.cells[1:] if len(asked) == 1 else []

    monkeypatch.setattr(OpenCells, "still_open", still_open)
    assert planned.lead().outcome == "done"
    assert rounds_of(planned) == {5: 14, 7: 20}


NEVER = {**TOGETHER, "repeat": 2, "until_decided": True, "produce_only": True, "equivalence_percent": 1e-6}
"""A is B, and equal within a millionth is what no number of rounds shows."""


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """As long as turns were taken; the referee's clock shows as many seconds."""
    taken: list[int] = []
    really = LibraryProcesses.take_turn

    def counted(self: Any, turn: Any, *rest: Any) -> Any:
        taken.append(turn.repetition)
        return really(self, turn, *rest)

    monkeypatch.setattr(LibraryProcesses, "take_turn", counted)
    clock = SimpleNamespace(monotonic=lambda: float(len(taken)), sleep=time.sleep)
    monkeypatch.setattr("streamgauge.families.compare.referee.time", clock)
    return taken


def test_what_is_open_at_the_time_limit_is_no_failure(arena: Any, turns: list[int]) -> None:
    planned = arena(**NEVER, time_limit="29s")
    manifest = planned.lead()
    assert (manifest.outcome, manifest.reason) == ("done", None)
    assert len(turns) == 30, "a round that has begun before the limit is had to its end"
    assert {row["repetition"] for row in planned.rows()} == set(range(-1, 9))


def test_the_time_limit_before_all_cells_had_their_repetitions_is_one(arena: Any, turns: list[int]) -> None:
    planned = arena(**NEVER, messages=[5, 7], time_limit="10s")
    manifest = planned.lead()
    assert manifest.outcome == "timed_out"
    assert "comparison.time_limit" in manifest.reason
    assert len(planned.rows()) == 2 * 12


def test_giving_up_in_between_keeps_the_rounds_that_were_added(arena: Any, turns: list[int]) -> None:
    planned = arena(**NEVER)
    manifest = planned.lead(FakeRendezvous(stopping=lambda: len(turns) >= 31))
    assert manifest.outcome == "stopped"
    kept = {row["repetition"] for row in planned.rows()}
    assert kept >= set(range(-1, 9)), "ten rounds are whole, and only the last turn was cut short"


def test_the_time_limit_ends_it_with_what_there_is(arena: Any, turns: list[int]) -> None:
    planned = arena(**TOGETHER, repeat=500, time_limit="10s")
    assert planned.lead().outcome == "timed_out"
    assert (len(turns), len(planned.rows())) == (12, 12 * 4)


def test_how_each_side_warmed_up_until_at_rest_is_told(arena: Any) -> None:
    assert arena().lead().warm_up == {}, "so many messages as were asked for"
    found = WarmUp.model_validate(arena(warm_up_messages="auto").lead().warm_up)
    assert found.rested
    assert [(part.part, part.messages) for part in found.parts] == [("a", 1), ("b", 1), ("control", 1)]


def test_a_run_that_is_given_up_while_libraries_warm_up_ends_at_once(arena: Any) -> None:
    planned = arena(warm_up_messages="auto")
    manifest = planned.lead(FakeRendezvous(stopping=lambda: True))
    assert (manifest.outcome, planned.rows(), manifest.warm_up) == ("stopped", [], {})
