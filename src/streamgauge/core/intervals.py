"""Sets of whole numbers that mostly lie side by side: rows of `from, to before`, in order and apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Intervals = NDArray[np.int64]
"""Two columns: from, to before."""
Key = tuple[int, ...]

NOTHING: Intervals = np.zeros((0, 2), np.int64)


def intervals_of(values: Integers) -> Intervals:
    if not len(values):
        return NOTHING
    found = np.unique(values)
    begins = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1] + 1)))
    ends = np.append(begins[1:], len(found)) - 1
    return np.stack([found[begins], found[ends] + 1], axis=1)


def united(one: Intervals, other: Intervals) -> Intervals:
    if not len(one) or not len(other):
        return one if len(one) else other
    both = np.concatenate([one, other])
    both = both[np.argsort(both[:, 0], kind="stable")]
    reached = np.maximum.accumulate(both[:, 1])
    begins = np.flatnonzero(np.concatenate(([True], both[1:, 0] > reached[:-1])))
    return np.stack([both[begins, 0], reached[np.append(begins[1:], len(both)) - 1]], axis=1)


def is_within(values: Integers, intervals: Intervals) -> NDArray[np.bool_]:
    if not len(intervals):
        return np.zeros(len(values), bool)
    place = np.searchsorted(intervals[:, 0], values, side="right") - 1
    found: NDArray[np.bool_] = (place >= 0) & (values < intervals[place, 1])
    return found


class KeyedIntervals:
    """A set for each key: of a producer its sequences, of a partition its offsets."""

    def __init__(self, sets: Mapping[Key, Intervals] | None = None) -> None:
        self._sets = dict(sets or {})

    @classmethod
    def of(cls, keys: Iterable[Integers], values: Integers) -> KeyedIntervals:
        columns = [np.asarray(key, np.int64) for key in keys]
        if not len(values):
            return cls()
        order = np.lexsort((values, *reversed(columns)))
        ordered = [column[order] for column in columns]
        is_new = np.ones(len(values), bool)
        is_new[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
        begins = np.flatnonzero(is_new)
        pieces = np.split(values[order], begins[1:])
        return cls(
            {
                tuple(int(column[begin]) for column in ordered): intervals_of(piece)
                for begin, piece in zip(begins.tolist(), pieces, strict=True)
            }
        )

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[int]]) -> KeyedIntervals:
        """As `rows` gave them."""
        found: dict[Key, list[list[int]]] = {}
        for row in rows:
            *key, low, high = row
            found.setdefault(tuple(key), []).append([low, high])
        return cls({key: np.array(own, np.int64) for key, own in found.items()})

    def rows(self) -> list[list[int]]:
        """Key, from, to before: for a file."""
        return [[*key, *pair] for key, own in self._sets.items() for pair in own.tolist()]

    def __len__(self) -> int:
        """How many intervals."""
        return sum(len(own) for own in self._sets.values())

    def __or__(self, other: KeyedIntervals) -> KeyedIntervals:
        keys = {**self._sets, **other._sets}
        return KeyedIntervals(
            {key: united(self._sets.get(key, NOTHING), other._sets.get(key, NOTHING)) for key in keys}
        )

    def hold(self, keys: Iterable[Any], values: Integers) -> NDArray[np.bool_]:
        """Which of these are there; `keys`: a column for each part of a key."""
        columns = [np.asarray(key) for key in keys]
        found = np.zeros(len(values), bool)
        for key, own in self._sets.items():
            is_own = np.ones(len(values), bool)
            for column, part in zip(columns, key, strict=True):
                is_own &= column == part
            if is_own.any():
                found[is_own] = is_within(values[is_own], own)
        return found
