import pytest

from .recorded import START_NS, CaseEvents, Recorded

US = 1000


def rates_of(tmp_path, stamps_ns):
    """The row of a case whose messages bear these stamps in every column."""
    case = CaseEvents("bunches")
    for sequence, at_ns in enumerate(stamps_ns):
        own = {"intended_ns": START_NS, "sent_ns": START_NS + at_ns, "acked_ns": START_NS + at_ns}
        case.receive(case.send(sequence, **own), received_ns=START_NS + at_ns)
    recorded = Recorded(tmp_path)
    recorded.add(case)
    recorded.write()
    return recorded.analyze().row("throughput", "bunches", scope="case")


def bunches(count, length, apart_ns):
    return [number * apart_ns for number in range(count) for _ in range(length)]


@pytest.mark.parametrize(
    "stamps", [bunches(5, 1000, 1000 * US), bunches(2, 2500, 2500 * US), range(0, 10**7, US)]
)
def test_bunches_with_one_stamp_do_not_overstate_the_rate(tmp_path, stamps):
    """A message a µs, told of in bunches: (n − 1) / range said 1.25M and 2M for the first two."""
    row = rates_of(tmp_path, stamps)
    for event in ("sent", "acked", "received"):
        assert row[f"{event}_messages_per_s"] == pytest.approx(1_000_000)
        assert row[f"{event}_bytes_per_s"] == pytest.approx(100_000_000)


def test_a_range_that_speaks_for_few_of_the_messages_gives_no_rate(tmp_path):
    """4,000 at once and 1,000 soon after: whatever that says, it is not the rate of 5,000."""
    row = rates_of(tmp_path, [0] * 4000 + [730 * US] * 1000)
    assert row["received_messages_per_s"] is row["received_bytes_per_s"] is None


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
