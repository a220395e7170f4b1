"""How a host's clock stands to the reference at any moment, from readings that each have a bound.

A reading says between which two values the offset was. Lines that keep between all of them, and drift no more
than clocks do, are few: the middle of them is taken, and half of their width is the bound, which is far less
than that of a reading that was taken while the host was busy. A bound is never less than that of the best
reading, since no clock goes quite straight.

Where no line keeps between them (a clock that jumped, or was slewed), the line goes from the first reading
towards the last as far as clocks drift, and its bound covers how far any other one lies beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import MOST_DRIFT

_STEPS = 80
"""Of the search for a drift, each of which leaves two thirds."""
_Floats = NDArray[np.float64]


class Reading(NamedTuple):
    at_ns: int
    offset_ns: int
    """what to add to a time of this clock to get the reference's"""
    error_ns: int


class ClockLine(NamedTuple):
    anchor_ns: int
    offset_ns: int
    """at the anchor, the first reading"""
    drift: float
    error_ns: float
    readings: int


def clock_line(readings: Sequence[Reading]) -> ClockLine | None:
    """None without any reading."""
    if not readings:
        return None
    known = sorted(readings)
    return _between(known) or _through_the_ends(known)


def _between(readings: Sequence[Reading]) -> ClockLine | None:
    """The middle of all lines that keep between what the readings allow."""
    first = readings[0]
    at_ns = np.array([reading.at_ns - first.at_ns for reading in readings], float)
    offsets_ns = np.array([reading.offset_ns - first.offset_ns for reading in readings], float)
    errors_ns = np.array([reading.error_ns for reading in readings], float)
    low, high = offsets_ns - errors_ns, offsets_ns + errors_ns
    drifts = _possible_drifts(at_ns, low, high)
    if drifts is None:
        return None
    least, most = drifts
    left_ns = at_ns[-1] - at_ns
    begin = (np.max(low - most * at_ns), np.min(high - least * at_ns))
    end = (np.max(low + least * left_ns), np.min(high + most * left_ns))
    begin_ns, end_ns = (float(sum(span)) / 2 for span in (begin, end))
    widest_ns = max(float(span[1] - span[0]) / 2 for span in (begin, end))
    drift = (end_ns - begin_ns) / at_ns[-1] if at_ns[-1] else 0.0
    return ClockLine(
        anchor_ns=first.at_ns,
        offset_ns=first.offset_ns + round(begin_ns),
        drift=float(drift),
        error_ns=max(widest_ns, float(errors_ns.min())),
        readings=len(readings),
    )


def _possible_drifts(at_ns: _Floats, low: _Floats, high: _Floats) -> tuple[float, float] | None:
    """The least and the most that a line between `low` and `high` can have; None: there is no such line."""

    def room(drift: float) -> float:
        """That lines of this drift have; it is concave in the drift."""
        return float(np.min(high - drift * at_ns) - np.max(low - drift * at_ns))

    below, above = -MOST_DRIFT, MOST_DRIFT
    for _ in range(_STEPS):
        third = (above - below) / 3
        if room(below + third) < room(above - third):
            below += third
        else:
            above -= third
    best = (below + above) / 2
    if room(best) < 0:
        return None

    def last_with_room(end: float) -> float:
        inside = best
        if room(end) >= 0:
            return end
        for _ in range(_STEPS):
            middle = (inside + end) / 2
            inside, end = (middle, end) if room(middle) >= 0 else (inside, middle)
        return inside

    return last_with_room(-MOST_DRIFT), last_with_room(MOST_DRIFT)


def _through_the_ends(readings: Sequence[Reading]) -> ClockLine:
    first, last = readings[0], readings[-1]
    passed_ns = last.at_ns - first.at_ns
    drift = (last.offset_ns - first.offset_ns) / passed_ns if passed_ns else 0.0
    # What a clock cannot have drifted it has jumped, nobody knows when: that is for the bound to cover.
    drift = min(max(drift, -MOST_DRIFT), MOST_DRIFT)
    beside_ns = (
        abs(one.offset_ns - (first.offset_ns + drift * (one.at_ns - first.at_ns))) - one.error_ns
        for one in readings
    )
    error_ns = max(first.error_ns, last.error_ns) + max(0.0, *beside_ns)
    return ClockLine(first.at_ns, first.offset_ns, drift, error_ns, len(readings))
