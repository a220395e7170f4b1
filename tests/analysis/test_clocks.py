import pytest

pytestmark = pytest.mark.spark


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
