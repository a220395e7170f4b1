import numpy as np
import pyarrow as pa
import pytest

from streamgauge.analysis.histogram import buckets_of
from streamgauge.analysis.latency import latency
from streamgauge.tables.results import LEGS, MESSAGES, PERCENTILES

from .recorded import MS, SECOND, START_NS

pytestmark = pytest.mark.spark


def latencies(session, cases):
    """Latency rows of cases given as arrays of ns from sent to received."""
    tables = []
    for case, values in cases.items():
        size = len(values)
        sent_ns = np.full(size, START_NS)
        columns = {column.name: pa.nulls(size) for column in MESSAGES.columns}
        columns |= {"case": [case] * size, "phase": ["measure"] * size, "topic": ["a"] * size}
        columns |= {"partition": np.arange(size) % 3, "second": np.arange(size) * 2 // size}
        columns |= {"intended_ns": sent_ns, "sent_ns": sent_ns, "received_ns": sent_ns + values}
        schema = pa.schema([field.with_nullable(True) for field in MESSAGES.arrow_schema()])
        tables.append(
            pa.table({name: pa.array(columns[name]).cast(schema.field(name).type) for name in schema.names})
        )
    messages = session.createDataFrame(pa.concat_tables(tables)).repartition(5)
    return [row.asDict() for row in latency(buckets_of(messages)).collect()]


def test_statistics_agree_with_exact_ones(session):
    rng = np.random.default_rng(7)
    cases = {
        "lognormal": rng.lognormal(14, 1.5, 20_000).astype(np.int64),
        "few": rng.lognormal(14, 1, 7).astype(np.int64),
        # An SD of 1 µs around a minute: sums of squares of doubles would lose it.
        "far": (60 * SECOND + rng.normal(0, 1000, 3000)).astype(np.int64),
        "around_zero": rng.normal(0, 50_000, 3000).astype(np.int64),
        "constant": np.full(1000, 123_456_789),
    }
    rows = [row for row in latencies(session, cases) if row["leg"] == "sent_to_received"]

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


def test_one_message_has_no_sd(session):
    rows = latencies(session, {"one": np.array([5 * MS])})
    row = next(r for r in rows if r["leg"] == "sent_to_received" and r["scope"] == "case")

    assert row["sd"] is None
    assert row["mean"] == row["min"] == row["p50"] == row["p99_9"] == row["max"] == 5.0


def test_a_senseless_time_does_not_end_the_analysis(session):
    rows = latencies(session, {"broken": np.array([8_900_000_000 * SECOND, 1, 2] * 50)})
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
            "sent_to_output": -0.02,
            "output_to_received": 2.02,
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
