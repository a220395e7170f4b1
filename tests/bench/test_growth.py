import math

import pytest
from bench.growth import growth_of


def test_a_power_law_is_found_with_its_error():
    exact = growth_of([(x, 3 * x**1.5) for x in (1, 10, 100, 1000)])
    assert exact.exponent == pytest.approx(1.5)
    assert exact.exponent_error == pytest.approx(0, abs=1e-9)
    assert exact.at(10_000) == pytest.approx((3e6, 3e6, 3e6))


def test_the_error_holds_the_truth_and_grows_with_the_distance():
    noisy = growth_of([(1, 1.1), (10, 9.0), (100, 105.0), (1000, 980.0)])
    assert abs(noisy.exponent - 1) < noisy.exponent_error < 0.2
    near, far = (math.log(high / low) for _, low, high in (noisy.at(1000), noisy.at(1e6)))
    assert far > near
    middle, low, high = noisy.at(10_000)
    assert low < 10_000 < high
    assert low < middle < high


def test_two_points_have_a_slope_and_no_error_to_tell():
    two = growth_of([(1, 2.0), (2, 4.0)])
    assert two.exponent == pytest.approx(1)
    assert two.exponent_error == math.inf
