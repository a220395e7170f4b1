"""Flags of `limit` as the workload that they make."""

from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.limit.command import limit
from streamgauge.families.limit.workload import LimitWorkload


@pytest.mark.parametrize(("given", "first_s", "other_s"), [("none", 0.0, 0.0), ("2s", 5.0, 2.0)])
def test_a_warm_up_is_a_time_or_none(given: str, first_s: float, other_s: float) -> None:
    made = limit(slo=["p99<20ms"], warm_up=given, bootstrap="127.0.0.1:9092")
    assert isinstance(made, LimitWorkload)
    assert (made.search.first_warm_up, made.search.warm_up) == (first_s, other_s)


def test_until_at_rest_is_refused_with_what_comes_of_a_step_that_was_not() -> None:
    with pytest.raises(BadInput, match="not decidable; allowed: none, or how long"):
        limit(slo=["p99<20ms"], warm_up="auto", bootstrap="127.0.0.1:9092")
