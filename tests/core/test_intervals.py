"""Sets of numbers as intervals, against sets of numbers."""

from __future__ import annotations

from random import Random

import numpy as np

from streamgauge.core.intervals import KeyedIntervals, intervals_of, is_within, united


def drawn(random: Random) -> set[int]:
    return {random.randrange(60) for _ in range(random.randrange(40))}


def numbers(values: set[int]) -> np.ndarray:
    return np.array(sorted(values), np.int64)


def test_intervals_hold_what_was_put_in_and_are_as_few_as_can_be() -> None:
    random = Random(3)
    for _ in range(300):
        one, other = drawn(random), drawn(random)
        both = united(intervals_of(numbers(one)), intervals_of(numbers(other)))
        every = np.arange(-1, 62)
        assert set(every[is_within(every, both)].tolist()) == one | other
        assert both.tolist() == intervals_of(numbers(one | other)).tolist()


def test_a_set_for_each_key_adds_up_and_comes_back_from_its_rows() -> None:
    random = Random(4)
    for _ in range(100):
        first, second = (
            {(random.randrange(3), random.randrange(2), random.randrange(50)) for _ in range(30)}
            for _ in "ab"
        )
        sets = [
            KeyedIntervals.of([rows[:, 0], rows[:, 1]], rows[:, 2])
            for rows in (np.array(sorted(found)) for found in (first, second))
        ]
        both = sets[0] | sets[1]
        again = KeyedIntervals.from_rows(both.rows())
        every = np.array([(a, b, c) for a in range(4) for b in range(2) for c in range(50)])
        is_there = again.hold([every[:, 0], every[:, 1]], every[:, 2])
        assert {tuple(row) for row in every[is_there].tolist()} == first | second
        assert len(again) == len(both) <= len(first | second)


def test_nothing_is_in_nothing() -> None:
    none = KeyedIntervals.of([np.zeros(0, np.int64)], np.zeros(0, np.int64))
    assert (len(none), none.rows(), len(none | none)) == (0, [], 0)
    assert not none.hold([np.zeros(3, np.int64)], np.arange(3)).any()
