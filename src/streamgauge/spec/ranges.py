"""Values of a swept field: a list, or a range `min:max:step` written as people do.

`1:8:1` is 1, 2 … 8; `1:64:*2` is 1, 2, 4 … 64; without a step it is 1. A range stands alone or in a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from streamgauge.core.units import parse_bytes, parse_count, parse_rate

MOST_VALUES = 1000
"""A range with more is a slip of the pen."""

_RANGE = re.compile(r"\s*([^:\s]+)\s*:\s*([^:\s]+)\s*(?::\s*([*+]?)\s*([^:\s]+)\s*)?")
_ALLOWED = "min:max:step, as in 1:8:2, 1KiB:64KiB:*4"


def swept_values(path: str, given: Any) -> Any:
    """The values that a field of `load`, named by its dotted path, is to have one after another.

    What is neither a list nor a range is handed back as it is: others say what is wrong with it.
    """
    if not isinstance(given, (list, tuple, str)) or (isinstance(given, str) and ":" not in given):
        return given
    values: list[Any] = []
    for item in [given] if isinstance(given, str) else given:
        if isinstance(item, str) and ":" in item:
            values += _values_of_range(item, _parser_of(path))
        else:
            values.append(item)
    return tuple(values)


def swept_fields(fields: Any) -> Any:
    """The same for each of several fields, by their dotted paths."""
    if not isinstance(fields, dict):
        return fields
    return {path: swept_values(str(path), values) for path, values in fields.items()}


def listed_values(path: str, text: str) -> tuple[Any, ...]:
    """The same from one word of a command line: `1,2,8:32:*2`."""
    values: tuple[Any, ...] = swept_values(path, [part.strip() for part in text.split(",") if part.strip()])
    return values


def _parser_of(path: str) -> Callable[[str], float]:
    field = path.rpartition(".")[2]
    if field in ("size", "stream_size"):
        return parse_bytes
    return parse_rate if field == "rate" else parse_count


def _values_of_range(text: str, parse: Callable[[str], float]) -> Iterator[float]:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a range; allowed: {_ALLOWED}")
    first, last = parse(match[1]), parse(match[2])
    multiplies = match[3] == "*"
    step = float(match[4]) if multiplies else parse(match[4] or "1")
    if first > last:
        raise ValueError(f"{text!r} is an empty range: {match[1]} is above {match[2]}")
    if step <= (1 if multiplies else 0) or (multiplies and first == 0):
        raise ValueError(f"{text!r} is a range that never ends; allowed: {_ALLOWED}")
    value, count = first, 0
    while value <= last:
        count += 1
        if count > MOST_VALUES:
            raise ValueError(f"{text!r} is a range of over {MOST_VALUES} values")
        yield int(value) if value == int(value) else value
        value = value * step if multiplies else value + step
