from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from streamgauge.report.hdr_files import encoded_histogram, hgrm_text, hlog_text
from streamgauge.report.result_tables import Row


def rows(values_ns: list[int]) -> list[Row]:
    found, counts = np.unique(values_ns, return_counts=True)
    return [{"value_ms": int(v) / 1e6, "count": int(c)} for v, c in zip(found, counts, strict=True)]


@pytest.fixture
def sample() -> list[int]:
    rng = np.random.default_rng(7)
    drawn = np.rint(np.exp(rng.normal(12, 2, 20_000))).astype(int)
    return drawn.tolist()


def test_the_usual_library_reads_the_same_percentiles(sample: list[int]) -> None:
    values, counts = np.unique(sample, return_counts=True)
    read = HdrHistogram.decode(base64.b64encode(encoded_histogram(values, counts)))
    assert read.get_total_count() == 20_000
    for percentile in (25, 50, 90, 99, 99.9, 100):
        wanted = sorted(sample)[round(percentile * len(sample) / 100) - 1]
        assert read.get_value_at_percentile(percentile) == pytest.approx(wanted, rel=0.002)


def test_a_log_can_be_opened(sample: list[int], tmp_path: object) -> None:
    path = f"{tmp_path}/x.hlog"
    with open(path, "w") as file:
        file.write(hlog_text(rows(sample), 12.5))
    whole = HdrHistogram(1, 3_600_000_000_000, 3)
    reader = HistogramLogReader(path, whole)
    interval = reader.get_next_interval_histogram()
    assert interval is not None
    assert interval.get_total_count() == 20_000
    assert reader.get_next_interval_histogram() is None
    reader.close()


def test_values_below_zero_are_counted_as_zero_and_said() -> None:
    text = hlog_text([{"value_ms": -0.5, "count": 3}, {"value_ms": 1.0, "count": 1}], 1.0)
    assert "3 values below zero are recorded as 0" in text


def test_the_table_of_percentiles_goes_up_to_the_maximum(sample: list[int]) -> None:
    lines = hgrm_text(rows(sample)).splitlines()
    body = [line.split() for line in lines if re.match(r"\s+\d", line)]
    values = [float(line[0]) for line in body]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(max(sample) / 1e6)
    median = next(float(line[0]) for line in body if float(line[1]) >= 0.5)
    assert median == pytest.approx(np.median(sample) / 1e6, rel=0.01)
    assert int(body[-1][2]) == 20_000
    assert lines[-3].startswith("#[Mean")
