from __future__ import annotations

import pytest

from streamgauge.core.clock import NS_PER_S, ClockReading, now_ns
from streamgauge.launch.agreed_start import agreed_start

WALL_NS = 1_700_000_000 * NS_PER_S


def reading(host: str, monotonic_ns: int, wall_ns: int = WALL_NS, error_ns: int = 100) -> ClockReading:
    return ClockReading(host, monotonic_ns, wall_ns, error_ns)


def test_on_one_host_all_start_at_one_time_after_the_last_was_ready() -> None:
    readings = {"producer-0": reading("h", 1000), "consumer-0": reading("h", 5000)}
    starts = agreed_start(readings, 0.5, "elsewhere")
    assert {start.at_ns for start in starts.values()} == {5000 + NS_PER_S // 2}
    assert {start.reference_offset_ns for start in starts.values()} == {0}
    assert {start.reference_error_ns for start in starts.values()} == {0}


def test_a_launcher_on_that_host_never_names_a_moment_that_has_passed() -> None:
    before = now_ns()
    [start] = agreed_start({"producer-0": reading("h", 1000)}, 0.5, "h").values()
    assert start.at_ns >= before + NS_PER_S // 2


def test_another_host_is_told_the_same_moment_on_its_own_clock() -> None:
    """The second host was booted 100 s later, so its monotonic clock is 100 s behind."""
    ahead = 100 * NS_PER_S
    readings = {
        "producer-0": reading("a", 500 * NS_PER_S, WALL_NS),
        "consumer-0": reading("b", 500 * NS_PER_S - ahead, WALL_NS),
    }
    starts = agreed_start(readings, 1.0, "elsewhere")
    assert starts["producer-0"].at_ns == 501 * NS_PER_S
    assert starts["consumer-0"].at_ns == 401 * NS_PER_S
    assert starts["consumer-0"].reference_offset_ns == ahead
    assert starts["consumer-0"].reference_error_ns == pytest.approx(10_000_200)


def test_one_agent_of_each_host_that_the_launcher_is_not_on_samples_the_machine() -> None:
    readings = {f"producer-{n}": reading(host, n) for n, host in enumerate("abab")}
    starts = agreed_start(readings, 1.0, "a")
    assert [start.sample_machine for start in starts.values()] == [False, True, False, False]
