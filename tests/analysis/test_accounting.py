import pytest

from .planted import SEEDS, count_by_hand

COUNTS = (
    "sent",
    "acked",
    "failed",
    "received",
    "lost_write",
    "unseen",
    "duplicate",
    "out_of_order",
    "corrupt",
    "unexpected",
)


def counts(row):
    return {name: row[name] for name in COUNTS if row[name]}


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("clean", {"sent": 10, "acked": 10, "received": 10}),
        ("missing", {"sent": 10, "acked": 10, "received": 8, "lost_write": 1, "unseen": 1}),
        ("no_offsets", {"sent": 6, "acked": 6, "received": 4, "lost_write": 1, "unseen": 1}),
        ("no_consumers", {"sent": 4, "acked": 4}),
        ("never_received", {"sent": 4, "acked": 4, "unseen": 4}),
        ("duplicates", {"sent": 5, "acked": 5, "received": 5, "duplicate": 3}),
        ("out_of_order", {"sent": 6, "acked": 6, "received": 6, "duplicate": 2, "out_of_order": 1}),
        ("damaged", {"sent": 6, "acked": 6, "received": 2, "lost_write": 2, "corrupt": 4, "unexpected": 3}),
        ("failures", {"sent": 6, "acked": 2, "failed": 3, "received": 3, "unexpected": 1}),
    ],
)
def test_counts_of_a_case(results, case, expected):
    assert counts(results.row("accounting", case, scope="case")) == expected


def test_phases_are_apart(results):
    warm_up = results.row("accounting", "warm_up", scope="case", phase="warm_up")
    measured = results.row("accounting", "warm_up", scope="case", phase="measure")

    assert counts(warm_up) == {"sent": 4, "acked": 4, "received": 3, "lost_write": 1}
    assert counts(measured) == {"sent": 4, "acked": 4, "received": 4}


def test_strays_have_a_partition_but_no_second(results):
    by_partition = results.row("accounting", "damaged", scope="partition")
    by_second = results.row("accounting", "damaged", scope="second")

    assert (by_partition["corrupt"], by_partition["unexpected"]) == (4, 3)
    assert (by_second["corrupt"], by_second["unexpected"]) == (3, 0)


def test_an_unknown_partition_is_in_no_partition(results):
    assert results.row("accounting", "no_offsets", scope="partition")["sent"] == 4
    assert results.row("accounting", "no_offsets", scope="topic")["sent"] == 6


def test_a_loss_is_in_its_topic_and_partition_only(results):
    lost = [
        (row["scope"], row["topic"], row["partition"])
        for row in results.rows("accounting", "two_topics", lost_write=1)
    ]

    assert sorted(lost, key=str) == [
        ("case", None, None),
        ("partition", "topic-b", 0),
        ("second", None, None),
        ("topic", "topic-b", None),
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_planted_faults_are_counted_exactly(results, recorded, seed):
    """In every scope and phase, against a count made one event after the other."""
    case = next(case for case in recorded.cases.values() if case.name == f"planted-{seed}")
    expected = count_by_hand(case, ["topic-a", "topic-b"])

    found = {
        (row["scope"], row["topic"], row["partition"], row["second"], row["phase"]): counts(row)
        for row in results.rows("accounting", case.name)
    }
    assert found == {key: {n: c for n, c in tally.items() if c} for key, tally in expected.items()}


def test_every_kind_of_fault_was_planted(results):
    rows = [results.row("accounting", f"planted-{s}", scope="case", phase="measure") for s in SEEDS]

    assert all(sum(row[name] for row in rows) > 10 for name in COUNTS)
