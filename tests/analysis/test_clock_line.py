"""A clock's line against clocks whose truth is known."""

from __future__ import annotations

import random

import pytest

from streamgauge.analysis.clock_line import ClockLine, Reading, clock_line

MS, S = 10**6, 10**9


def at(line: ClockLine, at_ns: int) -> float:
    return line.offset_ns + line.drift * (at_ns - line.anchor_ns)


def read_by_a_cable(seed: int, drift: float = 50e-6, count: int = 30, busy: bool = False) -> list[Reading]:
    """Every two seconds; a way takes 4 to 6 ms, and twenty times that where the host is busy."""
    draws = random.Random(seed)
    readings = []
    for number in range(count):
        at_ns = 10**15 + number * 2 * S
        slow = 20 if busy and draws.random() < 0.7 else 1
        there_ns, back_ns = (round(draws.uniform(4, 6) * slow * MS) for _ in range(2))
        true_ns = -200 * MS + drift * (at_ns - 10**15)
        readings.append(Reading(at_ns, round(true_ns + (there_ns - back_ns) / 2), (there_ns + back_ns) // 2))
    return readings


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_truth_is_within_the_bound_all_along_and_the_bound_is_that_of_quiet_moments(
    seed: int, busy: bool
) -> None:
    readings = read_by_a_cable(seed, busy=busy)
    line = clock_line(readings)
    assert line is not None
    for reading in readings:
        true_ns = -200 * MS + 50e-6 * (reading.at_ns - 10**15)
        assert abs(at(line, reading.at_ns) - true_ns) <= line.error_ns
    assert 4 * MS <= line.error_ns <= (20 if busy else 6) * MS
    assert line.readings == len(readings)


def test_first_and_last_reading_in_a_busy_moment_do_not_matter() -> None:
    bad = Reading(0, 90 * MS, 100 * MS), Reading(60 * S, -90 * MS, 100 * MS)
    good = [Reading(at_s * S, 0, MS) for at_s in (10, 20, 40, 50)]
    line = clock_line([bad[0], *good, bad[1]])
    assert line is not None
    assert abs(at(line, 30 * S)) < MS
    assert line.error_ns < 2 * MS


def test_no_drift_is_more_than_clocks_have() -> None:
    """Two readings within a second say next to nothing of it."""
    line = clock_line([Reading(0, 5 * MS, 5 * MS), Reading(S, -4 * MS, 5 * MS)])
    assert line is not None
    assert abs(line.drift) <= 500e-6
    assert line.error_ns == 5 * MS, "no less than the best reading"


def test_a_single_reading_is_all_that_is_known() -> None:
    assert clock_line([Reading(7, 3, 2)]) == ClockLine(7, 3, 0.0, 2, 1)
    assert clock_line([]) is None


def test_where_no_line_fits_the_bound_covers_what_lies_beside_it() -> None:
    line = clock_line([Reading(0, 0, MS), Reading(10 * S, 400 * MS, MS), Reading(20 * S, 0, MS)])
    assert line == ClockLine(0, 0, 0.0, 400 * MS, 3)


def test_a_jump_is_no_drift() -> None:
    """Times of long ago would be moved by years, and past what a number holds."""
    line = clock_line([Reading(0, 0, 0), Reading(S, -9 * S, 0)])
    assert line is not None
    assert line.drift == -500e-6
    assert line.error_ns == pytest.approx(9 * S - S * 500e-6)
