import math

import pytest
from bench.growth import growth_of, line_of


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


def test_what_costs_something_to_begin_and_then_the_same_for_each_is_a_line_and_no_power_law():
    points = [(n, 3 + 0.7 * n) for n in (3, 10, 30, 100)]
    line = line_of(points)
    assert (line.start, line.slope) == (pytest.approx(3), pytest.approx(0.7))
    assert line.at(1000) == pytest.approx((703, 703, 703))
    law = growth_of(points)
    assert law.exponent < 0.9
    assert law.at(1000)[0] < 0.8 * 703, "which is why the law is not asked"


def test_a_line_holds_the_truth_within_an_error_that_is_a_share_of_what_is_reckoned():
    noisy = line_of([(3, 5.3), (10, 9.7), (30, 24.5), (100, 72.0)])
    middle, low, high = noisy.at(1000)
    assert low < 703 < high
    assert high - low > 10 * (noisy.at(30)[2] - noisy.at(30)[1])
    assert middle - low == pytest.approx(high - middle)


def test_a_line_through_two_points_has_no_error_to_tell():
    assert line_of([(1, 2.0), (2, 4.0)]).at(3) == (pytest.approx(6), -math.inf, math.inf)
