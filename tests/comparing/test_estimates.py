from __future__ import annotations

import math

import numpy as np
import pytest

from streamgauge.comparing.blocks import blocks_of
from streamgauge.comparing.estimates import (
    Estimate,
    error_of_mean,
    estimate_about,
    mean_estimate,
    percentile_estimate,
    rate_estimate,
)

from .drawn_runs import CALM, drawn_blocks, drawn_latencies_ns


def test_figures_are_those_of_the_messages() -> None:
    rng = np.random.default_rng(3)
    latencies = drawn_latencies_ns(rng, 2.0, CALM).astype(np.int64)
    times = np.arange(len(latencies), dtype=np.int64) * 1_000_000
    blocks = blocks_of(latencies, times, times)
    for share in (0.5, 0.9, 0.99, 0.999):
        found = percentile_estimate(blocks, share)
        assert found is not None
        assert found.value == pytest.approx(np.quantile(latencies, share), rel=1e-3)
        low, high = found.limits(0.95) if found.limits else (0, 0)
        assert low <= found.value <= high
        wider = found.limits(0.999) if found.limits else (0, 0)
        assert wider[0] <= low
        assert wider[1] >= high
    mean = mean_estimate(blocks)
    assert mean is not None
    assert mean.value == pytest.approx(latencies.mean(), rel=1e-3)


def test_a_rate_is_as_sure_as_its_blocks_are_even() -> None:
    even = drawn_blocks(np.random.default_rng(1), 1.0, CALM)
    found = rate_estimate(even, 1000.0)
    assert found is not None
    assert found.limits is not None
    low, high = found.limits(0.95)
    assert 990 < low <= 1000 <= high < 1010
    assert rate_estimate(even, 0.0) is None


def test_what_is_not_above_zero_has_no_estimate() -> None:
    zero = np.zeros(100, np.int64)
    blocks = blocks_of(zero, np.arange(100, dtype=np.int64), np.arange(100, dtype=np.int64))
    assert percentile_estimate(blocks, 0.5) is None
    assert mean_estimate(blocks) is None


def test_one_that_has_no_limits_spans_nothing() -> None:
    assert Estimate(2.0).log_spans(0.95) == (0.0, 0.0)
    assert Estimate(2.0).log == math.log(2)
    assert Estimate(2.0, lambda _: (0.0, 4.0)).log_spans(0.95) == (math.inf, pytest.approx(math.log(2)))


def test_blocks_that_are_alike_make_the_mean_less_sure() -> None:
    to_and_fro = np.tile([1.0, -1.0], 6)
    runs = np.repeat([1.0, -1.0], 6)
    (loose, few), (tight, many) = error_of_mean(runs), error_of_mean(to_and_fro)
    assert loose > 1.5 * tight
    assert few < many == 11
    assert error_of_mean(np.ones(12)) == (0.0, 11.0)


def test_blocks_that_have_nothing_in_common_leave_it_open_and_can_be_computed() -> None:
    below, above = estimate_about(2.0, np.array([900.0, -900.0, 900.0])).log_spans(0.999999)
    assert min(below, above) > 100
    assert math.isfinite(below + above)
