from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.percentiles import percentiles_of, weighted_percentiles

from .properties import few_untimed

SHARES = [0.0, 0.25, 0.5, 0.99, 0.999, 1.0]
COUNTS = st.dictionaries(st.integers(-1000, 1 << 50), st.integers(1, 50), min_size=1, max_size=20)


@given(counts=COUNTS)
@few_untimed
def test_they_are_those_of_all_values(counts: dict[int, int]) -> None:
    every = [value for value, count in counts.items() for _ in range(count)]
    assert percentiles_of(counts, SHARES) == pytest.approx(np.quantile(every, SHARES).tolist(), rel=1e-12)


@given(groups=st.lists(COUNTS, min_size=1, max_size=5))
@few_untimed
def test_groups_do_not_know_of_each_other(groups: list[dict[int, int]]) -> None:
    rows = [(value, counts[value]) for counts in groups for value in sorted(counts)]
    values, times = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    begins = np.cumsum([0, *(len(counts) for counts in groups[:-1])])
    found = np.array(weighted_percentiles(values, times, begins, SHARES)).T
    assert found.tolist() == [percentiles_of(counts, SHARES) for counts in groups]
