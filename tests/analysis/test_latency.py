import numpy as np
import pyarrow as pa
import pytest

from streamgauge.analysis.joining.buckets import buckets_of
from streamgauge.analysis.joining.facts import CaseFacts
from streamgauge.analysis.joining.messages import join_messages
from streamgauge.analysis.latency import latency
from streamgauge.tables.events import RECEIVES, SENDS
from streamgauge.tables.results import LEGS, PERCENTILES

from .recorded import MS, SECOND, START_NS


def latencies(cases):
    """Latency rows of cases given as arrays of ns from sent to received; each in five parts."""
    parts = [
        bucketed(case, values, np.arange(len(values)) % 5 == part)
        for case, values in cases.items()
        for part in range(5)
    ]
    return latency(pa.concat_tables(parts)).to_pylist()


def bucketed(case, values, own):
    """Of three partitions, and two seconds by when they were due."""
    size = len(values)
    sequence = np.arange(size)
    due_ns = START_NS + sequence * 2 // size * SECOND
    place = {
        "topic": np.zeros(size),
        "partition": sequence % 3,
        "offset": sequence,
        "size_bytes": np.ones(size),
    }
    message = {"producer": np.zeros(size), "sequence": sequence, **place}
    sends = {
        **message,
        "intended_ns": due_ns,
        "sent_ns": due_ns,
        "acked_ns": pa.nulls(size),
        "error": pa.nulls(size),
    }
    receives = {**message, "consumer": np.zeros(size), "arrival": sequence, "state": np.zeros(size)}
    receives |= {"broker_ms": pa.nulls(size), "broker_time": np.zeros(size), "received_ns": due_ns + values}
    sent, received = (
        pa.table({f.name: pa.array(columns[f.name]).cast(f.type) for f in table.arrow_schema()}).filter(
            pa.array(own)
        )
        for table, columns in ((SENDS, sends), (RECEIVES, receives))
    )
    facts = CaseFacts(case, start_ns=START_NS, consumers=1, topics=("a",))
    return buckets_of(join_messages(facts, sent, received, {}))


def test_statistics_agree_with_exact_ones():
    rng = np.random.default_rng(7)
    cases = {
        "lognormal": rng.lognormal(14, 1.5, 20_000).astype(np.int64),
        "few": rng.lognormal(14, 1, 7).astype(np.int64),
        # An SD of 1 µs around a minute: sums of squares of doubles would lose it.
        "far": (60 * SECOND + rng.normal(0, 1000, 3000)).astype(np.int64),
        "around_zero": rng.normal(0, 50_000, 3000).astype(np.int64),
        "constant": np.full(1000, 123_456_789),
    }
    rows = [row for row in latencies(cases) if row["leg"] == "sent_to_received"]

    scopes = {
        "case": lambda row, size: np.ones(size, bool),
        "topic": lambda row, size: np.ones(size, bool),
        "partition": lambda row, size: np.arange(size) % 3 == row["partition"],
        "second": lambda row, size: np.arange(size) * 2 // size == row["second"],
    }
    assert len(rows) == len(cases) * (1 + 1 + 3 + 2)
    for row in rows:
        values = cases[row["case"]]
        own = values[scopes[row["scope"]](row, len(values))]
        assert row["count"] == len(own)
        assert row["negative_count"] == np.sum(own < 0)
        assert row["min"] == own.min() / MS
        assert row["max"] == own.max() / MS
        assert row["mean"] == pytest.approx(own.mean() / MS, rel=1e-12, abs=1e-12)
        assert row["sd"] == pytest.approx(np.std(own - own[0], ddof=1) / MS, rel=1e-7, abs=1e-9)
        for name, share in PERCENTILES.items():
            exact = np.quantile(own, share) / MS
            assert row[name] == pytest.approx(exact, rel=1e-3, abs=1e-6)


def test_one_message_has_no_sd():
    rows = latencies({"one": np.array([5 * MS])})
    row = next(r for r in rows if r["leg"] == "sent_to_received" and r["scope"] == "case")

    assert row["sd"] is None
    assert row["mean"] == row["min"] == row["p50"] == row["p99_9"] == row["max"] == 5.0


def test_a_senseless_time_does_not_end_the_analysis():
    rows = latencies({"broken": np.array([8_900_000_000 * SECOND, 1, 2] * 50)})
    row = next(r for r in rows if r["leg"] == "sent_to_received" and r["scope"] == "case")

    assert row["max"] == 8_900_000_000 * 1000
    assert row["mean"] == pytest.approx(8_900_000_000 * 1000 / 3)


def test_legs_of_a_clean_case(results):
    means = {row["leg"]: row["mean"] for row in results.rows("latency", "clean", scope="case")}

    assert means == pytest.approx(
        {
            "intended_to_received": 2.02,
            "sent_to_received": 2.0,
            "sent_to_acked": 1.0,
            "sent_to_broker": -0.02,
            "broker_to_received": 2.02,
            "intended_to_sent": 0.02,
        }
    )
    assert set(means) == set(LEGS)


def test_a_failed_delivery_has_no_ack_latency(results):
    assert results.row("latency", "failures", scope="case", leg="sent_to_acked")["count"] == 2
    assert results.row("latency", "failures", scope="case", leg="sent_to_received")["count"] == 3
    assert results.row("latency", "failures", scope="case", leg="intended_to_sent")["count"] == 6


def test_warm_up_is_left_out(results):
    assert results.row("latency", "warm_up", scope="case", leg="sent_to_received")["count"] == 4


def test_negative_latencies_are_kept_and_counted(results):
    row = results.row("latency", "early", scope="case", leg="sent_to_received")

    assert (row["count"], row["negative_count"]) == (3, 1)
    assert row["min"] == -5.0
    assert row["mean"] == pytest.approx(-1 / 3)


def test_legs_without_times_have_no_row(results):
    legs = {row["leg"] for row in results.rows("latency", "no_consumers")}

    assert legs == {"sent_to_acked", "intended_to_sent"}


def test_seconds_are_by_intended_time(results):
    rows = results.rows("latency", "seconds", scope="second", leg="intended_to_received")

    assert [(row["second"], row["mean"]) for row in rows] == [(0, 10.0), (1, 20.0), (2, 30.0), (3, 40.0)]


def test_buckets_of_a_case(results):
    buckets = results.rows("histogram", "early", leg="sent_to_received")

    assert [bucket["count"] for bucket in buckets] == [1, 2]
    assert [bucket["value_ms"] for bucket in buckets] == [
        pytest.approx(-5, rel=5e-4),
        pytest.approx(2, rel=5e-4),
    ]


def test_counts_add_up_to_those_of_latency(results, recorded):
    for case in recorded.cases.values():
        for row in results.rows("latency", case.name, scope="case"):
            buckets = results.rows("histogram", case.name, leg=row["leg"])
            assert sum(bucket["count"] for bucket in buckets) == row["count"]


def test_broker_times_in_ms_make_few_buckets(results):
    [bucket] = results.rows("histogram", "clean", leg="sent_to_broker")

    assert bucket["value_ms"] == pytest.approx(-20_000 / MS, rel=5e-4)
