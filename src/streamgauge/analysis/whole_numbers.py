"""Sums and products in whole numbers of 38 digits: nothing cancels, and no order matters.

Null where 38 digits do not hold it: a senseless time must not end the analysis.
"""

from __future__ import annotations

from functools import reduce

DIGITS = 38
WHOLE = f"decimal({DIGITS},0)"


def times(*factors: str) -> str:
    return _chained("try_multiply", factors)


def plus(*terms: str) -> str:
    return _chained("try_add", terms)


def _chained(function: str, parts: tuple[str, ...]) -> str:
    whole = [f"cast({part} as {WHOLE})" for part in parts]
    return reduce(lambda left, right: f"cast({function}({left}, {right}) as {WHOLE})", whole)
