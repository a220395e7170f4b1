from __future__ import annotations

from pathlib import Path

import pyarrow.dataset as ds
import pytest

from streamgauge.agents.assignment import Assignment
from streamgauge.core.clock import clock_domain, read_clocks
from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import IDENTITY_VARIABLE
from streamgauge.launch import clock_watch
from streamgauge.launch.clock_watch import ClockOffset, ClockWatch, measured_offset
from streamgauge.launch.folder_server import served
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload
from tests.waiting import wait_for

AHEAD_NS = 50_000_000


class Clock:
    """Goes on only while somebody waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 10**9
        monkeypatch.setattr(clock_watch, "now_ns", lambda: self.now_ns)


def test_the_offset_is_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def reference_ns() -> int:
        clock.now_ns += 2_000_000  # one way is slower than the other: the worst that can be
        return clock.now_ns + AHEAD_NS

    offset = measured_offset(reference_ns, exchanges=5)
    assert abs(offset.offset_ns - AHEAD_NS) == offset.error_ns == 1_000_000


def test_the_quickest_exchange_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, pauses_ns = Clock(monkeypatch), iter([20_000, 100, 20_000])

    def reference_ns() -> int:
        clock.now_ns += next(pauses_ns)
        return clock.now_ns

    assert measured_offset(reference_ns, exchanges=3).error_ns == 50


def exchanged(monkeypatch: pytest.MonkeyPatch, ways: list[tuple[int, int]], jump_ns: int = 0) -> ClockOffset:
    """`ways`: how long each question and each answer took; the clock jumps before the last exchange."""
    clock, left = Clock(monkeypatch), iter(ways)
    offsets_ns = iter([AHEAD_NS] * (len(ways) - 1) + [AHEAD_NS + jump_ns])
    back_ns = 0

    def now_ns() -> int:
        nonlocal back_ns
        clock.now_ns, back_ns = clock.now_ns + back_ns, 0
        return clock.now_ns

    def reference_ns() -> int:
        nonlocal back_ns
        there_ns, back_ns = next(left)
        clock.now_ns += there_ns
        return clock.now_ns + next(offsets_ns)

    monkeypatch.setattr(clock_watch, "now_ns", now_ns)
    return measured_offset(reference_ns, exchanges=len(ways))


def test_the_quickest_way_there_and_the_quickest_way_back_need_not_be_of_one_exchange(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offset = exchanged(monkeypatch, [(1_000, 9_000), (9_000, 1_000)])
    assert offset.error_ns < 1_100, "of any exchange alone it would be 5,000"
    assert abs(offset.offset_ns - AHEAD_NS) <= offset.error_ns


def test_exchanges_that_contradict_each_other_leave_the_quickest(monkeypatch: pytest.MonkeyPatch) -> None:
    offset = exchanged(monkeypatch, [(2_000, 2_000), (3_000, 3_000)], jump_ns=1_000_000)
    assert (offset.offset_ns, offset.error_ns) == (AHEAD_NS, 2_000)


def assignment(run: RunDir) -> Assignment:
    workload = {"targets": [{"name": "s", "driver": "simulated"}], "load": {"messages": 5}}
    case = make_plan(Workload.model_validate(workload), "run").cases[0]
    return Assignment.of(run, case, case.agents[0], {})


def test_before_during_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_watch, "_EVERY_S", 0.02)
    run = RunDir(str(tmp_path))
    with served(tmp_path, "127.0.0.1", "run") as server:
        monkeypatch.setenv(IDENTITY_VARIABLE, server.identity)
        watch = ClockWatch(server.location, "another host")
        reading = read_clocks()
        first = watch.begin(vars(reading))
        wait_for(lambda: len(watch._seen) > 1)
        watch.finish(assignment(run))
    rows = ds.dataset(run.url(run.events("marks", "001"))).to_table().to_pylist()

    assert abs(first.offset_ns) <= first.error_ns < 60 * 10**9
    assert len(rows) >= 3
    assert {row["mark"] for row in rows} == {"clock"}
    assert all(abs(row["reference_offset_ns"]) <= row["reference_error_ns"] for row in rows)
    assert rows[0]["agent"] == "producer-0"


def test_the_launchers_own_clock_is_not_looked_at(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path / "run"))
    watch = ClockWatch("http://127.0.0.1:9/run", clock_domain())

    assert watch.begin(vars(read_clocks())).error_ns == 0
    watch.finish(assignment(run))
    assert list(run.list_files("events")) == []


def test_how_long_there_was_no_answer_is_kept_with_the_next_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, watch = Clock(monkeypatch), ClockWatch("http://127.0.0.1:9/run", "another host")

    def answer(*_: str) -> bytes:
        clock.now_ns += 1000
        return b"7"

    def no_answer(*_: str) -> bytes:
        clock.now_ns += 5 * 10**9
        raise OSError("the launcher does not answer")

    monkeypatch.setattr(watch._client, "ask", no_answer)
    with pytest.raises(OSError, match="does not answer"):
        watch._ask()
    monkeypatch.setattr(watch._client, "ask", answer)
    watch._look()
    watch._look()
    assert [seen.silent_ns for seen in watch._seen] == [5 * 10**9, 1000]
