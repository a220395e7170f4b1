from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.latency_block import percentile
from streamgauge.core.latency_buckets import BucketCounters, added

from .properties import few_untimed

LATENCIES = st.lists(st.integers(0, 2**43), min_size=1, max_size=200)


def buckets(values: list[int]) -> list[tuple[int, int]]:
    counters = BucketCounters()
    counters.add(np.array(values, np.int64))
    return counters.take()


@given(value=st.integers(0, 2**43))
@few_untimed
def test_the_middle_of_a_bucket_is_close_to_every_value_in_it(value: int) -> None:
    [(middle, count)] = buckets([value])
    assert count == 1
    assert abs(middle - value) <= value / 256
    if value < 128:
        assert middle == value


@given(parts=st.lists(LATENCIES, min_size=1, max_size=4))
@few_untimed
def test_histograms_that_are_added_up_are_that_of_all(parts: list[list[int]]) -> None:
    whole: dict[int, int] = {}
    for part in parts:
        added(whole, buckets(part))
    assert whole == dict(buckets([value for part in parts for value in part]))


@given(values=LATENCIES, percent=st.sampled_from([50.0, 99.0, 99.9, 100.0]))
@few_untimed
def test_percentiles_are_those_of_the_values(values: list[int], percent: float) -> None:
    found = percentile(dict(buckets(values)), percent)
    exact = int(np.percentile(values, percent, method="inverted_cdf"))
    assert abs(found - exact) <= exact / 256 + 1


def test_what_a_broken_clock_makes_is_counted_at_the_ends() -> None:
    [(low, two), (high, one)] = buckets([-5, -(10**15), 10**17])
    assert (low, two, one) == (0, 2, 1)
    assert high == pytest.approx(2**44, rel=0.01)


def test_taking_leaves_nothing() -> None:
    counters = BucketCounters()
    counters.add(np.array([7, 7], np.int64))
    assert counters.take() == [(7, 2)]
    assert counters.take() == []
