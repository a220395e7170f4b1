from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamgauge.core import clock
from streamgauge.core.clock import Clock, ClockReading, clock_domain, read_clocks, sharpen_sleep, sleep_until

_PR_GET_TIMERSLACK = 30


class FakeTime:
    """Stands in for the `time` module: time passes only when somebody sleeps, or asks."""

    def __init__(self, now_ns: int = 0, asking_ns: int = 0, wakes_early: Iterable[float] = ()) -> None:
        self.now_ns, self.asking_ns, self.slept_s = now_ns, asking_ns, list[float]()
        self._wakes_early = iter(wakes_early)

    def monotonic_ns(self) -> int:
        self.now_ns += self.asking_ns
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now_ns += round(seconds * 1e9 * next(self._wakes_early, 1.0))


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> FakeTime:
    fake = FakeTime(**getattr(request, "param", {}))
    monkeypatch.setattr(clock, "time", fake)
    return fake


def test_a_reading_lies_between_the_reads_around_it() -> None:
    before, wall_before = time.monotonic_ns(), time.time_ns()
    reading = read_clocks()
    after, wall_after = time.monotonic_ns(), time.time_ns()
    assert before <= reading.monotonic_ns <= after
    assert wall_before <= reading.wall_ns <= wall_after
    assert 0 <= reading.error_ns <= after - before
    assert reading.host == clock_domain()


def test_of_many_reads_the_pair_read_closest_together_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # Pair k is read in `width` ns from 1000·k on; the wall clock is a million ahead.
    widths = [90, 40, 7, 60] + [50] * 60
    monotonic = iter([t for k, width in enumerate(widths) for t in (1000 * k, 1000 * k + width)])
    wall = iter([1_000_000 + 1000 * k for k in range(len(widths))])
    scripted = SimpleNamespace(monotonic_ns=lambda: next(monotonic), time_ns=lambda: next(wall))
    monkeypatch.setattr(clock, "time", scripted)
    reading = read_clocks()
    assert (reading.monotonic_ns, reading.wall_ns, reading.error_ns) == (2003, 1_002_000, 4)


def test_the_wall_offset_turns_monotonic_into_wall_time() -> None:
    reading = ClockReading(host="h", monotonic_ns=100, wall_ns=1_700, error_ns=1)
    assert reading.monotonic_ns + reading.wall_offset_ns == reading.wall_ns


def test_the_clock_domain_falls_back_to_the_network_node(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(clock, "Path", lambda _: tmp_path / "no-boot-id")
    assert clock_domain().startswith("node-")
    assert clock_domain() == clock_domain()


def test_sleep_until_sleeps_what_is_left(fake_time: FakeTime) -> None:
    fake_time.now_ns = 400
    sleep_until(2_000_000_400)
    assert fake_time.slept_s == [2.0]
    assert fake_time.now_ns == 2_000_000_400


def test_sleep_until_the_past_does_not_sleep(fake_time: FakeTime) -> None:
    fake_time.now_ns = 400
    sleep_until(400)
    sleep_until(0)
    assert fake_time.slept_s == []


@pytest.mark.parametrize("fake_time", [{"wakes_early": [0.5, 0.5]}], indirect=True)
def test_sleep_until_sleeps_again_when_woken_early(fake_time: FakeTime) -> None:
    sleep_until(1_000_000_000)
    assert fake_time.slept_s == [1.0, 0.5, 0.25]
    assert fake_time.now_ns >= 1_000_000_000


def test_the_clock_of_an_agent_is_the_monotonic_one() -> None:
    here = Clock()
    before = time.monotonic_ns()
    due = here.now_ns() + 1_000_000
    here.sleep_until(due)
    assert before <= due <= here.now_ns()


@pytest.mark.skipif(sys.platform != "linux", reason="timer slack is a thing of Linux")
def test_a_sharpened_thread_has_the_least_timer_slack() -> None:
    slack: list[int] = []

    def look() -> None:
        sharpen_sleep()
        slack.append(ctypes.CDLL(None).prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert slack == [1]
