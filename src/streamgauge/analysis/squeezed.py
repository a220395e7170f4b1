"""What machines swapped, and how often they were throttled, while something was measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Row = Mapping[str, Any]


class Squeezed(NamedTuple):
    """Of all machines together; None: nobody counted."""

    swapped_bytes: float | None = None
    throttled_count: float | None = None


def squeezed(samples: Iterable[Row], begin_ns: int, end_ns: int) -> Squeezed:
    """`samples`: looks at machines, each of which counts since its own boot. Nobody knows when between two
    looks it was: it counts if any of that time is within these."""
    hosts: dict[str, list[Row]] = defaultdict(list)
    for row in samples:
        if row["kind"] == "machine":
            hosts[row["host"]].append(row)
    looks = [_around(rows, begin_ns, end_ns) for rows in hosts.values()]
    return Squeezed(*(sum_of_known(_grown(rows, name) for rows in looks) for name in Squeezed._fields))


def sum_of_known(values: Iterable[float | None]) -> float | None:
    """None: none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _around(rows: Iterable[Row], begin_ns: int, end_ns: int) -> list[Row]:
    """Those within, the last before and the first after."""
    ordered = sorted(rows, key=lambda row: int(row["at_ns"]))
    before = [row for row in ordered if row["at_ns"] <= begin_ns]
    within = [row for row in ordered if begin_ns < row["at_ns"] < end_ns]
    after = [row for row in ordered if row["at_ns"] >= end_ns]
    return [*before[-1:], *within, *after[:1]]


def _grown(rows: Iterable[Row], name: str) -> float | None:
    known = [row[name] for row in rows if row[name] is not None]
    return max(known) - min(known) if known else None
