from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from streamgauge.agents import noise_floor
from streamgauge.agents.noise_floor import LEAST_PER_S, MOST_PER_S, NoiseFloor
from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.native.loading import compiled_loops

compiled = pytest.mark.skipif(compiled_loops() is None, reason="the loops were not built")
MS = 1_000_000


class PlantedLoops:
    """A pacer whose delays are known: due every 2 ms from 10 ms on."""

    def __init__(self, late_ns: list[int]) -> None:
        self._late_ns, self.started = late_ns, list[tuple[float, int]]()

    def pacer(self, rate_per_s: float, room: int) -> object:
        self.started.append((rate_per_s, room))
        return object()

    def pacer_stop(self, pacer: object) -> tuple[int, int, bytes]:
        return 10 * MS, 2 * MS, np.array(self._late_ns, np.int64).tobytes()


def planted(monkeypatch: pytest.MonkeyPatch, loops: Any, producers: int = 1) -> NoiseFloor:
    monkeypatch.setattr(noise_floor, "compiled_loops", lambda: loops)
    return NoiseFloor(producers)


@pytest.mark.parametrize("most_s", [60, 35 * 60, 3600, 12 * 3600, 30 * 86400])
def test_of_a_load_of_hours_all_of_it_is_kept(monkeypatch: pytest.MonkeyPatch, most_s: float) -> None:
    loops = PlantedLoops([])
    monkeypatch.setattr(noise_floor, "compiled_loops", lambda: loops)
    NoiseFloor(1, most_s).start()
    [(rate_per_s, room)] = loops.started
    assert rate_per_s == MOST_PER_S or room == pytest.approx(rate_per_s * most_s) or rate_per_s == 1
    assert 1 <= rate_per_s <= MOST_PER_S
    assert rate_per_s * min(most_s, room) <= room + 1


def test_only_what_was_due_while_messages_counted_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    late = [9 * MS] * 5 + list(range(1, 101)) + [9 * MS] * 5
    floor = planted(monkeypatch, PlantedLoops(late))
    floor.start()
    floor.stop()
    assert floor.between(20 * MS, 220 * MS) == {
        "count": 100,
        "rate_per_s": MOST_PER_S,
        "p50_ns": 50,
        "p99_ns": 99,
        "max_ns": 100,
    }
    assert floor.between(0, 10 * MS) == {}


def test_without_compiled_loops_nothing_is_known_which_is_not_0(monkeypatch: pytest.MonkeyPatch) -> None:
    floor = planted(monkeypatch, None)
    floor.start()
    floor.stop()
    assert floor.between(0, 2**62) == {}


@pytest.mark.parametrize(("producers", "per_s"), [(1, MOST_PER_S), (4, MOST_PER_S / 4), (1000, LEAST_PER_S)])
def test_the_producers_of_a_case_share_the_wake_ups(
    monkeypatch: pytest.MonkeyPatch, producers: int, per_s: float
) -> None:
    loops = PlantedLoops([])
    planted(monkeypatch, loops, producers).start()
    assert [rate for rate, _ in loops.started] == [per_s]


@compiled
def test_a_pacer_wakes_for_every_due_time_and_never_too_early() -> None:
    loops: Any = compiled_loops()
    before_ns, threads = now_ns(), threading.active_count()
    pacer = loops.pacer(1000.0, 1 << 12)
    time.sleep(0.1)
    first_ns, period_ns, late = loops.pacer_stop(pacer)
    late_ns = np.frombuffer(late, np.int64)
    assert period_ns == NS_PER_S // 1000
    assert first_ns >= before_ns + period_ns
    # However late each was, none is left out: it was still running when it was told to end.
    assert 50 <= len(late_ns) <= 1 + (now_ns() - first_ns) // period_ns
    assert (late_ns >= 0).all()
    assert loops.pacer_stop(pacer)[2] == late, "asked again it says the same"
    assert threading.active_count() == threads, "Python knows nothing of it"


@compiled
def test_of_more_than_there_is_room_for_the_newest_are_kept() -> None:
    loops: Any = compiled_loops()
    begun_ns = now_ns()
    pacer = loops.pacer(10_000.0, 16)
    time.sleep(0.05)
    first_ns, period_ns, late = loops.pacer_stop(pacer)
    assert len(late) == 16 * 8
    assert first_ns > begun_ns + 16 * period_ns


@compiled
@pytest.mark.parametrize("given", [(0.0, 1), (float("nan"), 1), (1e7, 1), (100.0, 0), (100.0, 1 << 30)])
def test_what_makes_no_sense_is_refused(given: tuple[float, int]) -> None:
    with pytest.raises(ValueError, match="a rate between"):
        compiled_loops().pacer(*given)  # type: ignore[union-attr]


@compiled
def test_one_that_is_let_go_of_ends() -> None:
    """Were its thread still writing, it would write to memory that is no longer its own."""
    loops: Any = compiled_loops()
    for _ in range(20):
        loops.pacer(1000.0, 64)
