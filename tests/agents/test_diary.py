from __future__ import annotations

import socket

import pytest

from streamgauge.agents.diary import Diary, Manifest, write_manifest
from streamgauge.agents.rendezvous import Start
from streamgauge.tables.events import MARKS

from ..recording.recorder import Recorder
from .conftest import Assign
from .stage import READING


def test_marks_are_rows_with_the_clock_of_the_host(assign: Assign) -> None:
    assignment = assign("consumer-0")
    recorder = Recorder(assignment.run)
    diary = Diary(assignment, recorder.files)
    diary.mark("connected", 100)
    diary.set_clock(READING, Start(at_ns=5, reference_offset_ns=6, reference_error_ns=7))
    diary.mark("start", 200)
    diary.write()
    first, second = recorder.rows(MARKS)
    assert 0 <= first.pop("cpu_s") <= second.pop("cpu_s")
    about = {
        "agent": "consumer-0",
        "kind": "consumer",
        "number": 0,
        "host": "boot-1",
        "hostname": socket.gethostname(),
        "reference_offset_ns": 6,
        "reference_error_ns": 7,
        "wall_offset_ns": 1_000_000,
        "silent_ns": None,
    }
    assert first == {**about, "mark": "connected", "at_ns": 100}
    assert second == {**about, "mark": "start", "at_ns": 200}


def test_without_a_clock_there_are_no_marks(assign: Assign) -> None:
    assignment = assign()
    recorder = Recorder(assignment.run)
    diary = Diary(assignment, recorder.files)
    diary.mark("connected", 100)
    diary.write()
    assert recorder.rows(MARKS) == []


def test_a_manifest_is_written_with_secrets_struck_out(assign: Assign) -> None:
    assignment = assign()
    manifest = Manifest(
        "producer-0",
        "001",
        outcome="failed",
        reason="login of alice with hunter2 was refused",
        counts={"sends": 5},
        settings={"sasl.password": "hunter2", "url": "x:hunter2@y", "linger.ms": 5, "error_cb": print},
    )
    write_manifest(assignment, manifest)
    run = assignment.run_dir
    text = run.read_text(run.manifest("001", "producer-0"))
    assert "hunter2" not in text
    written = Manifest(**run.read_json(run.manifest("001", "producer-0")))
    assert written.reason == "login of alice with *** was refused"
    assert written.settings == {"sasl.password": "***", "url": "x:***@y", "linger.ms": "5"}
    assert written.counts == {"sends": 5}


def test_what_is_told_to_the_launcher_has_no_secrets_either(assign: Assign) -> None:
    manifest = Manifest("producer-0", "001", reason="hunter2!", settings={"sasl.password": "hunter2"})
    write_manifest(assign(), manifest)
    assert "hunter2" not in repr(manifest)


@pytest.mark.parametrize(
    ("outcome", "broken"),
    [("done", False), ("stopped", False), ("timed_out", False), ("died", True), ("failed", True)],
)
def test_an_agent_is_broken_when_it_died_or_failed(outcome: str, broken: bool) -> None:
    assert Manifest("producer-0", "001", outcome).broken is broken
