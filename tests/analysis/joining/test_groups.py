import numpy as np
import pytest

from streamgauge.analysis.joining.groups import group_rows

NARROW = [np.array([3, 1, 3, 1, 1]), np.array([-5, 7, -5, 7, 8])]
WIDE = [column * 1_000_003 for column in NARROW]
WIDEST = [column * (1 << 58) for column in (np.array([3, 1, 3, 1, 1]), np.array([-5, 7, -5, 7, 6]))]


@pytest.mark.parametrize("columns", [NARROW, WIDE, WIDEST], ids=["counted", "sorted", "sorted one by one"])
def test_groups_of_equal_rows(columns):
    groups = group_rows(columns)

    rows = list(zip(*columns, strict=True))
    keys = list(zip(*groups.keys, strict=True))
    assert keys == sorted(set(rows))
    assert [keys[number] for number in groups.of_row] == rows
    assert groups.sizes().tolist() == [rows.count(key) for key in keys]
    assert groups.sizes(np.array([True, False, False, True, True])).sum() == 3


def test_sums_and_extremes():
    groups = group_rows([np.array([2, 1, 2, 1, 2])])
    values, valid = np.array([10, 20, 30, 40, 50]), np.array([False, True, True, True, True])

    assert groups.sums(values).tolist() == [60, 90]
    assert groups.sums(values, valid).tolist() == [60, 80]
    assert [found.tolist() for found in groups.extremes(values, None)] == [[20, 10], [40, 50]]
    assert [found.tolist() for found in groups.extremes(values, valid)] == [[20, 30], [40, 50]]


def test_rows_already_in_order_stay_as_they_are():
    values, begins = group_rows([np.array([1, 1, 4, 9, 9])]).ordered(np.arange(5))

    assert (values.tolist(), begins.tolist()) == ([0, 1, 2, 3, 4], [0, 2, 3])
