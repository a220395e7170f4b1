"""The block of statistics equals the published example, line by line."""

from __future__ import annotations

import pytest

from streamgauge.core.latency_block import latency_block, moments, percentile

FIXED = {
    4: 300,
    5: 736,
    6: 400,
    7: 690,
    8: 500,
    9: 536,
    10: 480,
    11: 440,
    12: 340,
    13: 262,
    14: 235,
    15: 195,
    16: 170,
    17: 150,
    18: 328,
    21: 256,
    24: 100,
    29: 90,
    33: 60,
    54: 53,
    800: 2,
    1200: 2,
    1500: 3,
    1800: 1,
    2100: 2,
    2400: 3,
    2643: 1,
}
"""Latencies in ms and how often they came; made so that the published figures come out."""

EXAMPLE = """\
Test Duration: 0 Hours 24 minutes and 0 seconds
Number of samples: 6335
Min = 4 ms
Mean = 15 ms - Standard Deviation = 86 ms
Max = 2643 ms
25th Percentile = 7 ms
50th Percentile = 10 ms
75th Percentile = 14 ms
90th Percentile = 18 ms
95th Percentile = 24 ms
98th Percentile = 33 ms
Min
0004 - 0334 ********************|
0334 - 0664
0664 - 0994 |
0994 - 1324 |
1324 - 1654 |
1654 - 1984 |
1984 - 2314 |
2314 - 2644 |
Max

ZOOM
Min
0004 - 0006 *******************|
0006 - 0008 ********************|
0008 - 0010 *******************|
0010 - 0012 ****************|
0012 - 0014 ***********|
0014 - 0016 *******|
0016 - 0018 *****|
0018 - 0020
90th percentile"""

MORE = ["99th Percentile = 54 ms", "99.9th Percentile = 1800 ms"]
"""What the example does not have."""


def test_equals_the_published_layout_line_by_line() -> None:
    lines = latency_block(FIXED, 24 * 60)
    example = EXAMPLE.splitlines()
    after = example.index("98th Percentile = 33 ms") + 1
    assert lines == [*example[:after], *MORE, *example[after:]]


def test_the_mean_is_not_cut() -> None:
    assert "Mean = 1.5 ms - Standard Deviation = 0.7 ms" in latency_block({1: 1, 2: 1}, 5)
    assert "Mean = 1.7 ms - Standard Deviation = 0.2 ms" in latency_block({1: 1, 2: 1}, 5, 1.66, 0.21)


def test_hours_and_nothing_measured() -> None:
    assert latency_block({}, 3725) == [
        "Test Duration: 1 Hours 2 minutes and 5 seconds",
        "Number of samples: 0",
    ]


def test_every_sample_is_in_a_column() -> None:
    """Also when all are the same, or below zero."""
    for counts in ({7: 3}, {-2: 1, 0: 1, 3: 1}, {0: 1, 1: 1}):
        lines = latency_block(counts, 1)
        columns = lines[lines.index("Min") + 1 : lines.index("Max")]
        assert len(columns) == 8
        assert sum(line.endswith("|") for line in columns) == len(counts)


@pytest.mark.parametrize(("percent", "value"), [(25, 1), (26, 2), (50, 2), (99.9, 4), (100, 4)])
def test_percentiles_are_by_nearest_rank(percent: float, value: int) -> None:
    assert percentile({1: 1, 2: 1, 3: 1, 4: 1}, percent) == value


def test_moments() -> None:
    assert moments({2: 1, 4: 1}) == (3.0, pytest.approx(2**0.5))
    assert moments({2: 1}) == (2.0, 0.0)
