from __future__ import annotations

import numpy as np
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.sizing.fitting import Estimate, LinearCost


def test_costs_that_are_exact_are_found_and_certain() -> None:
    loads = [(1.0, 10.0), (1.0, 20.0), (2.0, 5.0), (1.0, 80.0)]
    cost = LinearCost("x", tuple(loads), tuple(0.5 * a + 0.25 * b for a, b in loads))
    assert cost.coefficients == pytest.approx([0.5, 0.25])
    found = cost.at((3.0, 1000.0))
    assert found.value == pytest.approx(251.5)
    assert (found.low, found.high) == pytest.approx((251.5, 251.5))


def test_nothing_costs_less_than_nothing() -> None:
    cost = LinearCost("x", ((1.0, 1.0), (1.0, 2.0), (1.0, 3.0), (1.0, 4.0)), (4.0, 3.0, 2.5, 2.0))
    assert (cost.coefficients >= 0).all()
    assert cost.at((1.0, 100.0)).value >= 2.0


def test_the_interval_holds_what_is_measured_then() -> None:
    """Noise of a tenth: of many further measurements about 19 in 20 lie in the interval that was told."""
    rng = np.random.default_rng(7)
    held = tried = 0
    for _ in range(200):
        loads = [(1.0, float(size)) for size in (5, 10, 20, 40, 80, 160)]
        true = np.array([2.0 + 0.3 * size for _, size in loads])
        cost = LinearCost("x", tuple(loads), tuple(true * rng.normal(1, 0.1, len(loads))))
        found = cost.at((1.0, 60.0))
        seen = 20.0 * rng.normal(1, 0.1)
        held += found.low <= seen <= found.high
        tried += 1
    assert held / tried > 0.88


def test_too_few_loads_and_loads_that_took_nothing_are_refused() -> None:
    with pytest.raises(BadInput, match="cores: 2 measured loads are too few"):
        LinearCost("cores", ((1.0, 1.0), (1.0, 5.0)), (1.0, 2.0)).at((1.0, 2.0))
    with pytest.raises(BadInput, match="must have taken something"):
        LinearCost("cores", ((1.0,), (1.0,)), (1.0, 0.0)).at((1.0,))


def test_estimates_add_up() -> None:
    one = Estimate(value=2, low=1, high=4)
    both = one + one.times(0.5)
    assert (both.value, both.low, both.high) == (3, 1.5, 6)
