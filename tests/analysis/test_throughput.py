import pytest


def test_n_messages_have_n_minus_one_gaps(results):
    row = results.row("throughput", "clean", scope="case")

    assert row["sent_messages_per_s"] == pytest.approx(1000)
    assert row["sent_bytes_per_s"] == pytest.approx(100_000)
    assert row["acked_messages_per_s"] == pytest.approx(1000)
    assert row["received_messages_per_s"] == pytest.approx(1000)


def test_seconds_count_by_the_own_time_of_each_event(results):
    rows = results.rows("throughput", "seconds", scope="second")

    assert [row["second"] for row in rows] == [0, 1, 2, 3]
    assert [row["sent_messages_per_s"] for row in rows] == [10, 10, 10, 10]
    assert [row["sent_bytes_per_s"] for row in rows] == [500] * 4


def test_a_backlog_is_counted_when_it_is_received(results):
    """Nothing of the planted cases, which send for three seconds, is received before the fifth."""
    rows = results.rows("throughput", "planted-1", scope="second")
    sent = {row["second"]: row["sent_messages_per_s"] for row in rows}
    received = {row["second"]: row["received_messages_per_s"] for row in rows}

    assert [received[second] for second in (0, 1, 2)] == [0, 0, 0]
    assert 3 not in received
    assert received[4] > 0
    assert sent[4] == 0


def test_no_range_no_rate(results):
    row = results.row("throughput", "no_consumers", scope="case")

    assert row["received_messages_per_s"] is row["received_bytes_per_s"] is None
    assert results.rows("throughput", "not_begun") == []
