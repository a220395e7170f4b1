import pytest


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
