"""Faults happen at their times, are taken back, and every change is noted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, cast

import pytest

from streamgauge.core.clock import now_ns
from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.core.fault_figures import FaultEffects
from streamgauge.faults.contract import Ending, Fault, Scene
from streamgauge.launch import fault_schedule
from streamgauge.launch.fault_schedule import FaultSchedule
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.spec.fault import FaultSpec
from tests.waiting import wait_for


class NoiseSpec(FaultSpec):
    kind: Literal["noise"] = "noise"


def noise(at: float, lasts: float) -> NoiseSpec:
    return NoiseSpec.model_validate({"at": at, "for": lasts})


class Noise(Fault):
    spec_model = NoiseSpec
    words = needs = "nothing"
    done: list[tuple[str, float]]
    fails: ClassVar[dict[str, Exception]] = {}
    looks = 0

    def begin(self) -> str:
        self._fail("begin")
        self.done.append(("begin", self.spec.at))
        return "everybody"

    def _fail(self, step: str) -> None:
        if step in self.fails:
            raise self.fails[step]

    def look(self) -> None:
        self.looks += 1
        self._fail("look")

    def end(self) -> None:
        self._fail("end")
        self.done.append(("end", self.spec.at))

    def effects(self) -> FaultEffects:
        self._fail("effects")
        return FaultEffects(refused_count=self.looks)


class Stage:
    def __init__(self) -> None:
        self.noted: list[list[FaultRecord]] = []
        self.told: list[str] = []
        self.restored = 0
        self.restoring_fails: Exception | None = None

    def restore(self) -> None:
        self.restored += 1
        if self.restoring_fails is not None:
            raise self.restoring_fails

    def schedule(self, *specs: FaultSpec) -> FaultSchedule:
        scene = Scene(cast("Any", None), cast("Any", None), cast("Any", self))
        return FaultSchedule(specs, scene, self._note, self.told.append)

    def _note(self, records: Sequence[FaultRecord]) -> None:
        self.noted.append(list(records))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    Noise.done, Noise.fails = [], {}
    monkeypatch.setattr(fault_schedule, "fault_class", lambda kind: Noise)
    return Stage()


def test_each_begins_at_its_time_and_is_taken_back(stage: Stage) -> None:
    schedule = stage.schedule(noise(0.05, 0.05), noise(0.0, 0.01))
    since_ns = now_ns()

    schedule.begin(since_ns)
    schedule.begin(since_ns)  # said once more: it has begun already
    wait_for(lambda: all(record.ended_ns for record in schedule.records))
    schedule.close()

    first, second = schedule.records
    assert sorted(Noise.done) == [("begin", 0.0), ("begin", 0.05), ("end", 0.0), ("end", 0.05)]
    assert first.began_ns is not None
    assert first.began_ns - since_ns >= 49_000_000
    assert first.ended_ns is not None
    assert first.done_ns is not None
    assert first.ended_ns - first.done_ns >= 49_000_000
    assert (first.target, second.problem) == ("everybody", None)
    assert stage.noted[0] == [
        FaultRecord(kind="noise", planned_at_s=0.05, planned_for_s=0.05),
        FaultRecord(kind="noise", planned_at_s=0.0, planned_for_s=0.01),
    ]
    assert stage.noted[-1] == schedule.records
    assert stage.restored == 1


def test_one_without_an_end_lasts_until_the_case_does(stage: Stage) -> None:
    schedule = stage.schedule(NoiseSpec(at=0))
    schedule.begin(now_ns())
    wait_for(lambda: Noise.done == [("begin", 0.0)])

    schedule.close()

    assert Noise.done == [("begin", 0.0), ("end", 0.0)]


def test_one_of_a_moment_is_taken_back_as_soon_as_it_is_done(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "ending", Ending.AT_ONCE)
    schedule = stage.schedule(NoiseSpec(at=0))
    schedule.begin(now_ns())

    wait_for(lambda: schedule.records[0].ended_ns is not None)
    schedule.close()

    assert Noise.done == [("begin", 0.0), ("end", 0.0)]


def test_one_of_a_moment_that_is_to_last_does(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noise, "ending", Ending.AT_ONCE)
    schedule = stage.schedule(noise(0, 3600))
    schedule.begin(now_ns())
    wait_for(lambda: schedule.records[0].done_ns is not None)
    assert schedule.records[0].ended_ns is None
    schedule.close()


def test_one_that_is_never_over_is_not_taken_back_and_has_no_end(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "ending", Ending.NEVER)
    schedule = stage.schedule(NoiseSpec(at=0))
    schedule.begin(now_ns())
    wait_for(lambda: schedule.records[0].done_ns is not None)

    schedule.close()

    assert Noise.done == [("begin", 0.0)]
    assert (schedule.records[0].ended_ns, schedule.records[0].problem) == (None, None)
    assert stage.noted[-1] == schedule.records


@pytest.mark.parametrize("lasts", [{}, {"for": 3600}])
def test_one_that_is_to_be_looked_at_is_until_it_ends_and_what_it_did_is_noted(
    stage: Stage, lasts: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "look_s", 0.01)
    schedule = stage.schedule(NoiseSpec.model_validate({"at": 0, **lasts}))
    [fault] = [planned.fault for planned in schedule._planned]
    schedule.begin(now_ns())
    wait_for(lambda: cast("Noise", fault).looks > 2)

    schedule.close()

    assert Noise.done == [("begin", 0.0), ("end", 0.0)]
    effects = schedule.records[0].effects
    assert effects is not None
    assert effects.refused_count == cast("Noise", fault).looks
    assert stage.noted[-1] == schedule.records


def test_one_that_had_to_be_prepared_says_since_when_times_count(stage: Stage) -> None:
    schedule = stage.schedule(noise(0, 0.01))
    schedule._planned[0].fault.counts_from_ns = 42
    schedule.begin(now_ns())
    wait_for(lambda: schedule.records[0].ended_ns is not None)
    schedule.close()
    assert stage.noted[-1][0].counts_from_ns == 42


def test_what_was_not_due_before_the_end_never_happens(stage: Stage) -> None:
    schedule = stage.schedule(NoiseSpec(at=3600))
    schedule.begin(now_ns())

    schedule.close()

    assert Noise.done == []
    assert schedule.records[0].began_ns is None


def test_one_that_cannot_be_done_says_why_and_is_not_taken_back(stage: Stage) -> None:
    Noise.fails["begin"] = CaseFailed("there is nobody to disturb")
    schedule = stage.schedule(noise(0, 0.01))

    schedule.begin(now_ns())
    wait_for(lambda: schedule.records[0].problem is not None)
    schedule.close()

    assert schedule.records[0].problem == "there is nobody to disturb"
    assert Noise.done == []
    assert stage.told == ["fault: noise could not be done: there is nobody to disturb"]


@pytest.mark.parametrize("step", ["begin", "look", "end", "effects"])
def test_whatever_goes_wrong_is_its_problem_and_what_is_known_is_noted(
    stage: Stage, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "look_s", 0.005)
    Noise.fails[step] = ProcessLookupError("no such process")
    schedule = stage.schedule(noise(0, 0.02))

    schedule.begin(now_ns())
    wait_for(lambda: not any(thread.is_alive() for thread in schedule._threads))
    schedule.close()

    [record] = stage.noted[-1]
    assert record == schedule.records[0]
    assert record.problem == "ProcessLookupError: no such process"
    assert record.began_ns is not None
    assert (record.ended_ns is None) == (step in ("begin", "end"))
    assert Noise.done == {"begin": [], "end": [("begin", 0.0)]}.get(step, [("begin", 0.0), ("end", 0.0)])
    assert "ProcessLookupError: no such process" in stage.told[-1]


def test_that_it_has_begun_is_noted_before_it_is_done(stage: Stage) -> None:
    class Slow(Exception):
        """Seen in place of what a fault does."""

    noted_before: list[bool] = []

    def look_first() -> str:
        noted_before.append(stage.noted[-1][0].began_ns is not None)
        raise Slow

    schedule = stage.schedule(noise(0, 0.01))
    schedule._planned[0].fault.begin = look_first  # type: ignore[method-assign]

    schedule.begin(now_ns())
    wait_for(lambda: schedule.records[0].problem is not None)
    schedule.close()

    assert noted_before == [True]


def test_where_nothing_can_be_noted_it_is_taken_back_all_the_same(stage: Stage) -> None:
    schedule = stage.schedule(noise(0, 0.01))

    def full(records: Sequence[FaultRecord]) -> None:
        raise OSError(28, "No space left on device")

    schedule._note = full
    schedule.begin(now_ns())
    wait_for(lambda: schedule.records[0].ended_ns is not None)
    schedule.close()

    assert Noise.done == [("begin", 0.0), ("end", 0.0)]
    assert "No space left on device" in (schedule.records[0].problem or "")


def test_what_cannot_be_restored_is_the_problem_of_the_last_fault_and_not_of_the_case(stage: Stage) -> None:
    stage.restoring_fails = Unreachable("broker-1 was not ready")
    schedule = stage.schedule(noise(0.02, 0.01), noise(0.0, 0.01), noise(3600, 1))
    schedule.begin(now_ns())
    wait_for(lambda: all(record.ended_ns for record in schedule.records[:2]))

    schedule.close()

    assert [record.problem for record in schedule.records] == ["broker-1 was not ready", None, None]
    assert stage.noted[-1] == schedule.records


def test_what_cannot_be_restored_is_the_problem_of_the_fault_that_was_not_taken_back(stage: Stage) -> None:
    stage.restoring_fails = Unreachable("broker-1 was not ready")
    Noise.fails["end"] = CaseFailed("it does not start")
    schedule = stage.schedule(noise(0.0, 0.01))
    schedule.begin(now_ns())
    wait_for(lambda: schedule.records[0].problem is not None)

    schedule.close()

    assert schedule.records[0].problem == "it does not start", "the first of it"
    assert "broker-1 was not ready" in stage.told[-1]


def test_where_no_fault_had_begun_nobody_but_the_case_can_say_that_it_is_not_restored(stage: Stage) -> None:
    stage.restoring_fails = Unreachable("broker-1 was not ready")
    with pytest.raises(Unreachable):
        stage.schedule(noise(3600, 1)).close()
