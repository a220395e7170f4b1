from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.analysis.result_rows import is_ordered

from ..core.properties import untimed

_ROWS = st.tuples(
    st.sampled_from(["a", "b"]),
    st.integers(0, 2),
    st.booleans(),
    st.one_of(st.none(), st.sampled_from([0.5, 1.5, math.nan])),
)


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    kinds = (pa.string(), pa.int64(), pa.bool_(), pa.float64())
    columns = zip(*rows, strict=True) if rows else ((),) * len(kinds)
    arrays = [pa.array(list(column), kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=["case", "number", "is_new", "level"])


@given(st.lists(_ROWS, max_size=8), st.booleans())
@untimed
def test_only_what_sorting_would_leave_as_it_is_is_called_ordered(rows: list[Any], presort: bool) -> None:
    given_rows = table(rows)
    by_all = [(name, "ascending") for name in given_rows.column_names]
    if presort:
        given_rows = given_rows.sort_by(by_all)
    if is_ordered(given_rows):
        after = given_rows.sort_by(by_all)
        assert str(after.to_pylist()) == str(given_rows.to_pylist())
    elif presort:
        level = given_rows["level"].to_pylist()
        assert any(value is None or math.isnan(value) for value in level), "else it is found to be in order"


@pytest.mark.parametrize("swapped", [0, 500, 998])
def test_rows_told_apart_by_their_first_columns_are_found_in_order_and_one_swap_is_seen(swapped: int) -> None:
    numbers = np.arange(1000)
    assert is_ordered(pa.table({"case": ["a"] * 1000, "number": numbers, "error": [None] * 1000}))
    numbers[[swapped, swapped + 1]] = numbers[[swapped + 1, swapped]]
    assert not is_ordered(pa.table({"case": ["a"] * 1000, "number": numbers, "error": [None] * 1000}))
