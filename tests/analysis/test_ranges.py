import pytest


def test_range_is_last_minus_first_of_each_time(results):
    row = results.row("ranges", "clean", scope="case")

    assert row["sent_s"] == pytest.approx(0.009)
    assert row["acked_s"] == pytest.approx(0.009)
    assert row["broker_s"] == pytest.approx(0.009)
    assert row["received_s"] == pytest.approx(0.009)


def test_each_scope_has_its_own_range(results):
    seconds = results.rows("ranges", "seconds", scope="second")
    partitions = results.rows("ranges", "two_topics", scope="partition")

    assert [row["sent_s"] for row in seconds] == pytest.approx([0.9] * 4)
    assert len(partitions) == 4
    assert all(row["sent_s"] == pytest.approx(0.012) for row in partitions)


def test_a_time_that_never_was_has_no_range(results):
    row = results.row("ranges", "no_consumers", scope="case")

    assert row["received_s"] is row["broker_s"] is None
    assert row["acked_s"] == pytest.approx(0.003)


def test_warm_up_and_failures_are_left_out(results):
    assert results.row("ranges", "warm_up", scope="case")["sent_s"] == pytest.approx(0.001)
    assert results.row("ranges", "failures", scope="case")["acked_s"] == pytest.approx(0.005)
