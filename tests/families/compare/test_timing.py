from __future__ import annotations

import pytest

from streamgauge.core.clock import Clock
from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import SharedSetting
from streamgauge.families.compare.timing import Deadline, Stopwatch, since, wait_out_fetches
from tests.agents.fakes import FakeClock


class BornClock(FakeClock):
    """Of a client that took 500 ns to be made."""

    def began_ns(self, before_ns: int) -> int:
        return self.now_ns() - 500


def test_cold_counts_from_before_the_client_was_made() -> None:
    watch, clock = Stopwatch(), BornClock()
    watch.go_by(clock)
    clock.sleep_until(clock.now_ns() + 1000)
    watch.stop()
    assert watch.elapsed_ns == 1500


def test_warm_counts_from_the_restart_and_pauses_do_not_count() -> None:
    watch, clock = Stopwatch(), BornClock()
    watch.go_by(clock)
    clock.sleep_until(clock.now_ns() + 1000)
    watch.restart()
    clock.sleep_until(clock.now_ns() + 70)
    watch.pause(2.0)
    clock.sleep_until(clock.now_ns() + 30)
    watch.stop()
    assert watch.elapsed_ns == 100
    assert watch.cpu_ns >= 0


def test_a_real_clock_begins_when_it_is_told() -> None:
    assert Clock().began_ns(4711) == 4711


def test_a_deadline_says_how_far_it_came() -> None:
    Deadline(60, "produce", 10).check(3)
    with pytest.raises(CaseFailed, match=r"consume: 3 of 10 messages within 0 s \(comparison.test_timeout\)"):
        Deadline(0, "consume", 10).check(3)


def test_a_pause_that_is_asked_for_puts_a_deadline_off() -> None:
    deadline = Deadline(0.0, "produce", 10)
    deadline.put_off(60)
    deadline.check(1)
    assert 59 < deadline.left_s <= 60
    deadline.put_off(-61)
    with pytest.raises(CaseFailed):
        deadline.check(1)


@pytest.mark.parametrize(("told", "waits_ms"), [([20], 40), ([None], 520), ([], 520)])
def test_a_fetch_on_its_way_is_waited_for(told: list[int | None], waits_ms: int) -> None:
    clock = FakeClock()
    before = clock.now_ns()
    wait_out_fetches([SharedSetting("fetch_max_wait_ms", "x", value) for value in told], clock)
    assert clock.now_ns() - before == waits_ms * 1_000_000


def test_what_was_counted_meanwhile() -> None:
    assert since({"crossings": 2}, {"crossings": 3, "jni_calls": 10}) == {"crossings": 1, "jni_calls": 10}
