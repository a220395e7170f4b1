from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest

from streamgauge.agents import life, producer
from streamgauge.agents.acknowledgements import InlineAcks
from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Manifest
from streamgauge.agents.life import live_through
from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.core.steady_state import SLOT_NS
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.target import Target
from streamgauge.tables.events import MARKS, RECEIVES, SENDS

from ..recording.recorder import Recorder
from .conftest import Assign
from .fakes import (
    ALWAYS,
    START_NS,
    FakeClock,
    FakeConsumer,
    FakeDriver,
    FakeProducer,
    FakeRendezvous,
    RealTimeDriver,
)


class World:
    """What `open_driver` gives the agent; the target it was given is kept."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.target: Target | None = None

    def open(self, target: Target, endpoints: dict[str, str]) -> FakeDriver:
        self.target = target
        return self.driver


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], World]:
    def make(client: Any) -> World:
        made = World(FakeDriver(client, ends=lambda: 1))
        monkeypatch.setattr(life, "open_driver", made.open)
        return made

    return make


def manifest_in(assignment: Assignment) -> Manifest:
    run = assignment.run_dir
    return Manifest(**run.read_json(run.manifest("001", assignment.task.agent)))


class Breaking(FakeProducer):
    """Breaks when it is sent its second batch."""

    def __init__(self, error: Exception) -> None:
        super().__init__(FakeClock())
        self._error = error

    def send(self, batch: Any, topic: int) -> int:
        if self.sent:
            raise self._error
        return super().send(batch, topic)


def test_a_producer_lives_through_all_stations_and_writes_everything(
    assign: Assign, world: Callable[[Any], World]
) -> None:
    assignment = assign(messages=10, rate="1k/s")
    here = world(client := FakeProducer(FakeClock()))
    rendezvous = FakeRendezvous()
    manifest = live_through(assignment, rendezvous)
    recorder = Recorder(assignment.run)
    assert rendezvous.said == ["ready", "finished"]
    assert (manifest.outcome, manifest.reason, manifest.broken) == ("done", None, False)
    assert manifest.counts == {"sends": 10, "marks": 4}
    assert len(recorder.rows(SENDS)) == 10
    assert [row["mark"] for row in recorder.rows(MARKS)] == [
        "connected",
        "start",
        "measure_begin",
        "measure_end",
    ]
    assert {row["reference_offset_ns"] for row in recorder.rows(MARKS)} == {11}
    assert manifest_in(assignment) == manifest
    assert client.closed
    assert here.driver.closed


def test_a_consumer_lives_through_all_stations(assign: Assign, world: Callable[[Any], World]) -> None:
    assignment = assign("consumer-0")
    world(FakeConsumer(FakeClock(), [(START_NS, [b"foreign"])]))
    manifest = live_through(assignment, FakeRendezvous())
    assert (manifest.outcome, manifest.counts) == ("done", {"receives": 1, "marks": 5})
    assert len(Recorder(assignment.run).rows(RECEIVES)) == 1


def test_the_driver_gets_the_secret_and_nobody_else_does(
    assign: Assign, world: Callable[[Any], World]
) -> None:
    assignment = assign(messages=1)
    here = world(FakeProducer(FakeClock()))
    manifest = live_through(assignment, FakeRendezvous())
    assert here.target is not None
    assert here.target.client == {"sasl.password": "hunter2"}
    assert manifest.settings == {"sasl.password": "***", "linger.ms": "5"}
    written = [assignment.run_dir.local(path).read_bytes() for path in assignment.run_dir.list_files("")]
    assert written
    assert not any(b"hunter2" in content for content in written)


def test_a_failure_is_told_with_its_kind_and_what_was_sent_is_kept(
    assign: Assign, world: Callable[[Any], World]
) -> None:
    assignment = assign(messages=10, rate="1k/s")
    world(client := Breaking(Unreachable("the broker at hunter2 is gone")))
    manifest = live_through(assignment, FakeRendezvous())
    assert (manifest.outcome, manifest.error) == ("failed", "Unreachable")
    assert manifest.reason == "the broker at *** is gone"
    assert manifest_in(assignment) == manifest
    assert len(Recorder(assignment.run).rows(SENDS)) == 1
    assert client.closed


def test_an_error_nobody_foresaw_is_raised_and_not_written_down_as_done(
    assign: Assign, world: Callable[[Any], World]
) -> None:
    assignment = assign(messages=10, rate="1k/s")
    world(Breaking(KeyError("what is this")))
    with pytest.raises(KeyError):
        live_through(assignment, FakeRendezvous())
    manifest = manifest_in(assignment)
    assert manifest.outcome == "died"
    assert manifest.reason == "KeyError: 'what is this'"
    assert len(Recorder(assignment.run).rows(SENDS)) == 1


def test_a_driver_that_cannot_be_opened_is_a_failure_with_a_manifest(assign: Assign) -> None:
    assignment = assign()
    manifest = live_through(assignment, FakeRendezvous())
    assert (manifest.outcome, manifest.error) == ("failed", "BadInput")
    assert "there is no driver 'fake'" in (manifest.reason or "")
    assert manifest_in(assignment) == manifest


def test_a_run_given_up_is_stopped(assign: Assign, world: Callable[[Any], World]) -> None:
    world(FakeProducer(FakeClock()))
    manifest = live_through(assign(), FakeRendezvous(stopping=ALWAYS))
    assert (manifest.outcome, manifest.broken) == ("stopped", False)


def test_a_time_out_is_told(assign: Assign, world: Callable[[Any], World]) -> None:
    world(FakeProducer(FakeClock()))
    manifest = live_through(assign(messages=1000, rate="1k/s", time_limit="10ms"), FakeRendezvous())
    assert (manifest.outcome, manifest.counts["sends"]) == ("timed_out", 10)


def test_a_full_disk_is_a_failure_that_still_has_a_manifest(
    assign: Assign, world: Callable[[Any], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    assignment = assign(messages=10, rate="1k/s")
    world(client := FakeProducer(FakeClock()))
    manifest = live_through(assignment, FakeRendezvous())
    assert (manifest.outcome, manifest.error, manifest.counts) == ("failed", "BadInput", {})
    assert "the disk is full" in (manifest.reason or "")
    assert manifest_in(assignment) == manifest
    assert client.closed


def test_a_manifest_that_cannot_be_written_is_told_all_the_same(
    assign: Assign, world: Callable[[Any], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise BadInput("the disk is full")

    monkeypatch.setattr(EventFiles, "write", full)
    monkeypatch.setattr(life, "write_manifest", full)
    world(client := FakeProducer(FakeClock()))
    manifest = live_through(assign(messages=10, rate="1k/s"), FakeRendezvous())
    assert (manifest.outcome, manifest.reason) == ("failed", "the disk is full")
    assert client.closed


@pytest.mark.parametrize(
    ("load", "is_asked"),
    [({"rate": "1k/s"}, True), ({"rate": "unlimited"}, False), ({"rate": "1k/s"}, False)],
)
def test_the_noise_floor_is_looked_for_beside_a_schedule_in_real_time(
    assign: Assign, monkeypatch: pytest.MonkeyPatch, load: dict[str, Any], is_asked: bool
) -> None:
    is_real = is_asked or load["rate"] == "unlimited"
    said: list[object] = []

    class Planted:
        def __init__(self, producer_count: int, most_s: float | None) -> None:
            said.append(producer_count)
            assert most_s is None or most_s > 60, "with the limit of a warm-up"

        def start(self) -> None:
            said.append("start")

        def stop(self) -> None:
            said.append("stop")

        def between(self, begin_ns: int, end_ns: int) -> dict[str, float]:
            assert START_NS <= begin_ns < end_ns
            return {"p99_ns": 7}

    fake = FakeProducer(FakeClock())
    driver = RealTimeDriver(fake) if is_real else FakeDriver(fake)
    monkeypatch.setattr(life, "open_driver", lambda *_: driver)
    monkeypatch.setattr(life, "NoiseFloor", Planted)
    monkeypatch.setattr(producer, "ThreadedAcks", InlineAcks)
    manifest = live_through(assign(messages=10, warm_up_messages=0, **load), FakeRendezvous())
    assert manifest.outcome == "done"
    assert said == ([1, "start", "stop"] if is_asked else [])
    assert manifest.noise_floor == ({"p99_ns": 7} if is_asked else {})


def test_nobody_waits_for_acks_that_are_there_at_once(
    assign: Assign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that is woken for every message costs more than the message."""

    class AtOnce(FakeProducer):
        tells_at_once = True

    def started(*_: object) -> None:
        raise AssertionError("a thread was started for acks")

    driver = RealTimeDriver(AtOnce(FakeClock(), ack_after_ns=0))
    monkeypatch.setattr(life, "open_driver", lambda *_: driver)
    monkeypatch.setattr(producer, "ThreadedAcks", started)
    assignment = assign(messages=10, rate="1k/s", warm_up_messages=0)
    assert live_through(assignment, FakeRendezvous()).outcome == "done"
    acked = [row["acked_ns"] for row in Recorder(assignment.run).rows(SENDS)]
    assert len(acked) == 10
    assert all(acked)


def test_a_producer_marks_where_its_own_count_begins_not_what_was_said_after_its_end(
    assign: Assign, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = assign(messages=500, rate="1k/s", warm_up_messages="auto")
    driver = RealTimeDriver(FakeProducer(FakeClock()))
    monkeypatch.setattr(life, "open_driver", lambda *_: driver)
    # A thread of its own would drive the made-up clock, too, and past any limit.
    monkeypatch.setattr(producer, "ThreadedAcks", InlineAcks)
    rendezvous = FakeRendezvous()
    rendezvous.measured_slot = lambda: 5 if "finished" in rendezvous.said else 2
    manifest = live_through(assignment, rendezvous)
    assert manifest.measured_slots == {"0": 2}
    assert manifest.warm_up_messages == {"0": 500}
    marks = {row["mark"]: row["at_ns"] for row in Recorder(assignment.run).rows(MARKS)}
    assert marks["measure_begin"] == START_NS + 2 * SLOT_NS
