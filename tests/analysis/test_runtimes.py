import pytest


def figures(row):
    return {name: row[name] for name in ("partitions", "messages", "bytes", "runtime_s", "wall_s")}


def test_a_partitions_own_time_is_from_its_first_sent_to_its_last_received(results):
    rows = results.rows("runtimes", "streams", scope="partition")

    times = {(row["topic"], row["partition"]): row["runtime_s"] for row in rows}
    assert times == pytest.approx(
        {("topic-a", 0): 0.013, ("topic-a", 1): 0.023, ("topic-b", 0): 0.033, ("topic-b", 1): 0.043}
    )
    assert all(row["wall_s"] == row["runtime_s"] and row["partitions"] == 1 for row in rows)


def test_times_of_partitions_add_up_while_the_wall_clock_goes_on_once(results):
    row = results.row("runtimes", "streams", scope="case")

    assert figures(row) == pytest.approx(
        {"partitions": 4, "messages": 16, "bytes": 16 * 1024, "runtime_s": 0.112, "wall_s": 0.046}
    )
    [first, second] = results.rows("runtimes", "streams", scope="topic")
    assert figures(first)["runtime_s"] == pytest.approx(0.036)
    assert figures(second)["runtime_s"] == pytest.approx(0.076)


def test_rates_are_those_of_streams_side_by_side(results):
    """The mean rate of a stream times their number; KiB, as the messages are 1 KiB."""
    row = results.row("runtimes", "streams", scope="case")

    assert row["messages_per_s"] == pytest.approx(16 / 0.112 * 4)
    assert row["kib_per_s"] == pytest.approx(16 / 0.112 * 4)
    [one] = results.rows("runtimes", "streams", scope="partition", topic="topic-a", partition=0)
    assert one["messages_per_s"] == pytest.approx(4 / 0.013)


def test_where_nothing_came_there_is_no_time(results):
    assert results.rows("runtimes", "never_received") == []
    assert results.rows("runtimes", "no_consumers") == []


def test_only_what_came_is_counted(results):
    row = results.row("runtimes", "missing", scope="case")
    assert row["messages"] == 8
