from __future__ import annotations

import numpy as np
import pytest

from streamgauge.families.compare.sample import is_two_humped, sample, warnings_of


def test_statistics_are_those_of_all_values() -> None:
    found = sample([2.0, 4.0, 4.0, 10.0])
    assert found is not None
    assert (found.count, found.max, found.min, found.mean, found.median) == (4, 10, 2, 5, 4)
    assert found.sd == pytest.approx(12**0.5)
    assert found.cv == pytest.approx(12**0.5 / 5)


def test_a_single_value_has_no_spread_and_nothing_has_no_sample() -> None:
    found = sample([3.0])
    assert found is not None
    assert (found.sd, found.cv, found.is_two_humped) == (None, None, False)
    assert sample([]) is None


def test_warnings_are_those_of_pyperf() -> None:
    calm = sample([100.0, 101, 99, 100, 100, 102, 98, 100, 101, 99])
    assert calm is not None
    assert list(warnings_of("a", calm)) == []
    wild = sample([100.0, 100, 100, 300, 20])
    assert wild is not None
    few, spread, highest, lowest = warnings_of("b", wild)
    assert {cause.about for cause in (few, spread, highest, lowest)} == {"b"}
    assert (few.code, few.figures) == ("few_repetitions", {"repetition_count": 5, "advised_count": 10})
    assert (spread.code, spread.figures["sd_share"]) == ("spread", pytest.approx(0.84, abs=0.005))
    assert (highest.code, highest.figures["max_share"]) == ("extremes", pytest.approx(1.42, abs=0.005))
    assert (lowest.code, lowest.figures["min_share"]) == ("extremes", pytest.approx(-0.84, abs=0.005))


@pytest.mark.parametrize("count", [10, 20, 60])
@pytest.mark.parametrize("law", ["normal", "uniform", "exponential", "drift"])
def test_one_hump_is_hardly_ever_taken_for_two(law: str, count: int) -> None:
    rng = np.random.default_rng(11)
    draws = {
        "normal": lambda: rng.normal(0, 0.2, count),
        "uniform": lambda: rng.random(count),
        "exponential": lambda: np.log(rng.exponential(1, count)),
        "drift": lambda: np.linspace(0, 1, count) + rng.normal(0, 0.05, count),
    }
    flagged = sum(is_two_humped(np.exp(draws[law]())) for _ in range(1000))
    assert flagged <= 10


@pytest.mark.parametrize(("share", "times"), [(0.35, 10), (0.5, 3), (0.35, 500)])
def test_two_humps_are_found(share: float, times: float) -> None:
    """As when a third of the cold runs waits half a second for a producer id."""
    rng = np.random.default_rng(12)
    found = [
        is_two_humped(np.exp(rng.normal(0, 0.1, 20)) * np.where(rng.random(20) < share, times, 1))
        for _ in range(200)
    ]
    assert np.mean(found) > 0.9


def test_outliers_are_no_hump_and_few_values_are_not_judged() -> None:
    rng = np.random.default_rng(13)
    times = np.exp(rng.normal(0, 0.1, 20))
    times[:2] *= 50
    assert not is_two_humped(times)
    assert not is_two_humped(np.array([1.0, 1, 1, 1, 9, 9, 9, 9]))
    assert not is_two_humped(np.full(20, 7.0))
    two = sample([1.0] * 10 + [9.0] * 10)
    assert two is not None
    assert "two_humps" in [cause.code for cause in warnings_of("b", two)]
