"""Rows grouped by whole numbers: narrow spans by counting, wide ones by sorting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

_DENSE = 4_000_000
"""Up to so many possible groups are counted in an array that has a place for each."""
_RADIX = 1 << 16
"""Numpy sorts 16-bit numbers in linear time."""


@dataclass(frozen=True)
class Groups:
    keys: tuple[Integers, ...]
    """One array a column, with its value in each group."""
    _place: Integers
    _present: Integers
    _sizes: Integers

    @property
    def count(self) -> int:
        return len(self._present)

    @cached_property
    def of_row(self) -> Integers:
        """The number of each row's group."""
        numbers = np.zeros(self._places, np.int64)
        numbers[self._present] = np.arange(self.count)
        return numbers[self._place]

    @cached_property
    def _places(self) -> int:
        return int(self._present[-1]) + 1

    @cached_property
    def _order(self) -> tuple[Integers | None, Integers]:
        """Rows by group (None when they already are), and where each group begins."""
        numbers = self.of_row
        begins = np.concatenate(([0], np.cumsum(self.sizes())[:-1]))
        if not (numbers[1:] < numbers[:-1]).any():
            return None, begins
        short = numbers.astype(np.uint16) if self.count <= _RADIX else numbers
        return np.argsort(short, kind="stable"), begins

    def sizes(self, among: Bools | None = None) -> Integers:
        """How many rows a group has."""
        if among is None:
            return self._sizes
        return np.bincount(self._place[among], minlength=self._places)[self._present]

    def sums(self, values: NDArray[Any], among: Bools | None = None) -> NDArray[np.float64]:
        """Whole numbers add up exactly to 2^53."""
        place, own = (self._place, values) if among is None else (self._place[among], values[among])
        totals: Any = np.bincount(place, own, minlength=self._places)
        return np.asarray(totals[self._present], np.float64)

    def ordered(self, values: Integers) -> tuple[Integers, Integers]:
        """The values group by group in their order, and where each group begins."""
        order, begins = self._order
        return (values if order is None else values[order]), begins

    def extremes(self, values: Integers, valid: Bools | None) -> tuple[Integers, Integers]:
        """Least and greatest valid value of a group; senseless where it has none."""
        limits = np.iinfo(np.int64)
        low = values if valid is None else np.where(valid, values, limits.max)
        high = values if valid is None else np.where(valid, values, limits.min)
        in_order, begins = self.ordered(low)
        least = np.minimum.reduceat(in_order, begins)
        in_order, begins = self.ordered(high) if valid is not None else (in_order, begins)
        return least, np.maximum.reduceat(in_order, begins)


def group_rows(columns: Sequence[NDArray[Any]]) -> Groups:
    """Groups of equal rows, in the order of their keys; there is at least one row."""
    lows = [int(column.min()) for column in columns]
    spans = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    places = 1
    for span in spans:
        places *= span
    if places >= 1 << 62:
        return _by_sorting_each(columns)
    place = np.zeros(len(columns[0]), np.int64)
    for column, low, span in zip(columns, lows, spans, strict=True):
        if span > 1:
            place *= span
            place += column
            place -= low
    if places <= _DENSE:
        counts = np.bincount(place, minlength=places)
        present = np.flatnonzero(counts)
        return Groups(_decoded(present, lows, spans), place, present, counts[present])
    present, numbers, sizes = np.unique(place, return_inverse=True, return_counts=True)
    return Groups(_decoded(present, lows, spans), numbers, np.arange(len(present)), sizes)


def _by_sorting_each(columns: Sequence[NDArray[Any]]) -> Groups:
    distinct = [np.unique(column, return_inverse=True) for column in columns]
    groups = group_rows([numbers for _, numbers in distinct])
    keys = tuple(values[numbers] for (values, _), numbers in zip(distinct, groups.keys, strict=True))
    return Groups(keys, groups._place, groups._present, groups._sizes)


def _decoded(places: Integers, lows: Sequence[int], spans: Sequence[int]) -> tuple[Integers, ...]:
    keys: list[Integers] = []
    rest = places
    for low, span in zip(reversed(lows), reversed(spans), strict=True):
        keys.append(rest % span + low)
        rest = rest // span
    return tuple(reversed(keys))
