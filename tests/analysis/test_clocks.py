from typing import Any

import pytest

from streamgauge.analysis.clocks import clocks

MS = 1_000_000


def test_offset_is_that_of_the_latest_start(results):
    row = results.row("clocks", "two_hosts", agent="producer-0")

    assert row["hostname"] == "box"
    assert row["offset_ms"] == 100.0


def test_error_covers_how_far_the_clock_moved(results):
    assert results.row("clocks", "two_hosts", agent="producer-0")["error_ms"] == 4.0
    assert results.row("clocks", "two_hosts", agent="consumer-0")["error_ms"] == 0.0


def test_no_start_no_row(results):
    assert results.rows("clocks", "no_marks") == []
    assert results.rows("clocks", "unlimited") == []


def test_a_clock_that_was_read_is_followed_along_its_line(results):
    """All messages took 2 ms, wherever the clock stood when they were sent."""
    row = results.row("latency", "drifting", scope="case", leg="intended_to_received")

    assert (row["min"], row["p50"], row["max"]) == (2.0, 2.0, 2.0)


def test_drift_and_the_bound_with_what_a_reading_lies_beside_the_line(results):
    row = results.row("clocks", "drifting", agent="producer-0")

    assert row["offset_ms"] == 50.0
    assert row["drift_ppm"] == pytest.approx(10.0)
    assert row["error_ms"] == pytest.approx(0.25 + 0.9 - 0.3)
    assert row["readings"] == 3
    assert results.row("clocks", "drifting", agent="consumer-0")["readings"] == 0


def read(*readings: dict[str, int]) -> dict[str, Any]:
    """What table `clocks` says of an agent whose clock was read every two seconds."""
    about = {"case": "001", "agent": "producer-0", "kind": "producer", "number": 0, "host": "far"}
    about |= {"hostname": "left", "silent_ns": 10 * MS, "wall_offset_ns": 10**18}
    same = {"reference_offset_ns": 70 * MS, "reference_error_ns": 5 * MS}
    marks = [
        {**about, **same, "mark": "clock", "at_ns": 2000 * MS * number, **reading}
        for number, reading in enumerate(readings)
    ]
    [row] = clocks([{**about, **same, "mark": "start", "at_ns": 0}, *marks]).to_pylist()
    return row


def test_a_clock_that_only_drifts_and_is_known_badly_has_not_jumped() -> None:
    row = read(
        {}, {"reference_offset_ns": 79 * MS}, {"reference_offset_ns": 71 * MS, "wall_offset_ns": 10**18 + MS}
    )
    assert (row["jump_ms"], row["wall_jump_ms"], row["silent_ms"]) == (None, None, 10.0)


def test_a_jump_ahead_is_told_with_its_size_and_is_no_silence() -> None:
    jumped = {"reference_offset_ns": -4930 * MS, "silent_ns": 5001 * MS}
    row = read({}, jumped, {**jumped, "silent_ns": 20 * MS})
    assert (row["jump_ms"], row["wall_jump_ms"], row["silent_ms"]) == (5000.0, 5000.0, 20.0)
    assert row["error_ms"] > 1000, "between the readings nobody knows when it was"


def test_a_wall_clock_that_is_set_is_told_apart_from_the_clock_that_is_measured_by() -> None:
    row = read({}, {"wall_offset_ns": 10**18 - 3_600_000 * MS})
    assert (row["jump_ms"], row["wall_jump_ms"]) == (None, -3_600_000.0)
    # The clock jumped and the wall clock did not: what has to be added to one to get the other changed.
    row = read({}, {"reference_offset_ns": 170 * MS, "wall_offset_ns": 10**18 + 100 * MS})
    assert (row["jump_ms"], row["wall_jump_ms"]) == (-100.0, None)


def test_the_longest_wait_for_an_answer_is_kept() -> None:
    assert read({}, {"silent_ns": 5100 * MS}, {}, {"silent_ns": 400 * MS})["silent_ms"] == 5100.0
