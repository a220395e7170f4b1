"""When what a fault did was over: messages that it hit lie together, until for some seconds there is none.

What is hit after that may be the machine's doing, or another's: it is counted, and no longer is the outage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamgauge.analysis.joining.groups import Integers
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.fault_figures import CALM_S

_CALM_NS = CALM_S * NS_PER_S
_WELL_NS = NS_PER_S
"""For so long before the next fault, or the end, all has to be well: one of many partitions may be dead."""


@dataclass(frozen=True)
class Hits:
    """Messages that were late, lost, failed or without outcome; one place each."""

    since_ns: Integers
    """From when on it might have been there, and was not."""
    felt_ns: Integers
    """When somebody knew."""
    over_ns: Integers
    """When it came after all, or nobody waited for it any longer."""
    intended_ns: Integers


@dataclass(frozen=True)
class Outage:
    """Hits that lie together."""

    since_ns: int
    felt_ns: int
    over_ns: int
    last_intended_ns: int
    """Of its messages, when the last one was due."""
    count: int

    def with_(self, other: Outage) -> Outage:
        return Outage(
            min(self.since_ns, other.since_ns),
            min(self.felt_ns, other.felt_ns),
            max(self.over_ns, other.over_ns),
            max(self.last_intended_ns, other.last_intended_ns),
            self.count + other.count,
        )


class Outages:
    """Of one fault; hits may come piece by piece, in any order: few numbers are kept."""

    def __init__(self) -> None:
        self._known: list[Outage] = []
        self.last_intended_ns = -1
        """Of all messages that are the fault's, hit or not."""

    def see(self, intended_ns: Integers) -> None:
        self.last_intended_ns = max(self.last_intended_ns, int(intended_ns.max()))

    def add(self, hits: Hits) -> None:
        if len(hits.since_ns):
            self._known = _joined([*self._known, *_together(hits)])

    def first(self, until_ns: int) -> Outage | None:
        """What came of a fault whose doing it has to be until then; None: nothing did."""
        return self._known[0] if self._known and self._known[0].since_ns < until_ns + _CALM_NS else None

    def later_count(self, first: Outage | None) -> int:
        return sum(one.count for one in self._known) - (first.count if first is not None else 0)

    @property
    def is_over(self) -> bool:
        """A hiccup in the last second is none, but what was not over by then, or again lasts, is."""
        if not self._known:
            return True
        last = self._known[-1]
        lasts = len(self._known) == 1 or last.over_ns - last.since_ns >= _CALM_NS
        return not lasts or self.last_intended_ns - last.last_intended_ns >= _WELL_NS


def _together(hits: Hits) -> list[Outage]:
    order = np.argsort(hits.since_ns, kind="stable")
    since, over = hits.since_ns[order], np.maximum.accumulate(hits.over_ns[order])
    begins = np.concatenate([[0], np.flatnonzero(since[1:] - over[:-1] >= _CALM_NS) + 1])
    ends = np.append(begins[1:], len(since)) - 1
    felt = np.minimum.reduceat(hits.felt_ns[order], begins)
    last = np.maximum.reduceat(hits.intended_ns[order], begins)
    columns = (since[begins], felt, over[ends], last, ends - begins + 1)
    return [Outage(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _joined(known: list[Outage]) -> list[Outage]:
    found: list[Outage] = []
    for one in sorted(known, key=lambda outage: outage.since_ns):
        if found and one.since_ns - found[-1].over_ns < _CALM_NS:
            found[-1] = found[-1].with_(one)
        else:
            found.append(one)
    return found
