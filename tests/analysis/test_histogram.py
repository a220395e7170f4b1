import numpy as np
import pyarrow as pa
import pytest

from streamgauge.analysis.histogram import bucket_middle

from .recorded import MS

pytestmark = pytest.mark.spark


def middles(session, values):
    frame = session.createDataFrame(pa.table({"value": pa.array(values, pa.int64())}))
    return [row[0] for row in frame.selectExpr(bucket_middle("value")).collect()]


def test_middle_is_within_half_a_tenth_of_a_percent(session):
    powers = [1 << power for power in range(62)]
    values = [power + step for power in powers for step in (-1, 0, 1)]
    values += [int(value) for value in np.random.default_rng(0).lognormal(15, 6, 5000)]

    for value, middle in zip(values, middles(session, values), strict=True):
        assert abs(middle - value) <= 0.0005 * value


def test_small_values_and_zero_are_exact(session):
    values = list(range(-2048, 2049))

    assert middles(session, values) == values


def test_negative_values_mirror_positive_ones(session):
    values = [int(value) for value in np.random.default_rng(1).lognormal(15, 3, 1000)]

    assert middles(session, [-value for value in values]) == [-middle for middle in middles(session, values)]


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


def test_output_times_in_ms_make_few_buckets(results):
    [bucket] = results.rows("histogram", "clean", leg="sent_to_output")

    assert bucket["value_ms"] == pytest.approx(-20_000 / MS, rel=5e-4)
