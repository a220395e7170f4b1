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


def rates_without_pace(tmp_path, done_ns, warmed_up_ns=()):
    """The same of a load without pace that sent all at once and was told of it at these times."""
    case = CaseEvents("unpaced", load={"messages": 10, "rate": "unlimited"})
    for sequence, at_ns in enumerate((*warmed_up_ns, *done_ns)):
        is_warm_up = sequence < len(warmed_up_ns)
        sent_ns = START_NS + (sequence if is_warm_up else 0)
        own = {"is_warm_up": is_warm_up, "intended_ns": sent_ns, "sent_ns": sent_ns}
        case.receive(case.send(sequence, acked_ns=START_NS + at_ns, **own), received_ns=START_NS + at_ns)
    recorded = Recorded(tmp_path)
    recorded.add(case)
    recorded.write()
    row = recorded.analyze().row("throughput", "unpaced", scope="case")
    assert row["acked_messages_per_s"] == row["received_messages_per_s"]
    return row["acked_messages_per_s"]


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


@pytest.mark.parametrize("first", [1, 1300, 4000])
def test_what_gathered_until_the_first_ack_is_no_rate(tmp_path, first):
    """Nothing for 2 ms, and then 5,000 within half of one: 7.4M a second were said, of a true 2M."""
    rest = [2000 * US + 500 * US * (number + 1) // (5000 - first) for number in range(5000 - first)]
    assert rates_without_pace(tmp_path, [2000 * US] * first + rest) == pytest.approx(2_000_000)


def test_a_queue_from_the_warm_up_takes_nothing_from_the_rate(tmp_path):
    """A message a µs is acked all the time, though each waits for 3 ms."""
    warm_up = [number * US for number in range(3000)]
    done = [(3000 + number) * US for number in range(1000)]
    assert rates_without_pace(tmp_path, done, warm_up) == pytest.approx(1_000_000)


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
