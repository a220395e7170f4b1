"""Ours against theirs, pair by pair: the median of the ratios, with its interval."""

from __future__ import annotations

import statistics
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from streamgauge.families.compare.paired_ratio import FEWEST_PAIRS, paired_ratio

PAIRS = FEWEST_PAIRS


@dataclass
class Ratio:
    """Ours over theirs."""

    what: str
    goal: str
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def line(self, unit: str) -> str:
        found = paired_ratio(self.ours, self.theirs)
        if found is None:
            return f"{self.what:<52} nothing was measured"
        each = sorted(ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True))
        words = f"{each[0]:.2f}–{each[-1]:.2f}, no interval from {found.pairs} pairs, it takes {FEWEST_PAIRS}"
        if found.interval is not None:
            low, high = found.interval
            words = f"95% {low:.2f}–{high:.2f} of {found.pairs} pairs"
        ours, theirs = statistics.median(self.ours), statistics.median(self.theirs)
        return (
            f"{self.what:<52} {found.median:6.2f}×  (goal {self.goal}; {words};"
            f" ours {ours:,.4g} {unit}, theirs {theirs:,.4g} {unit})"
        )


def in_turns(pairs: int, *sides: Callable[[], None]) -> Iterable[bool]:
    """ABBA: whoever goes first gains nothing by it. The first pair only warms the broker: False."""
    for pair in range(pairs + 1):
        for measure in sides if pair % 2 else sides[::-1]:
            measure()
        yield pair > 0


def in_pairs(pairs: int, ratio: Ratio, ours: Callable[[str], float], theirs: Callable[[str], float]) -> Ratio:
    """One figure a side; each measurement has a topic of its own."""
    found: dict[str, float] = {}

    def measured(side: str, measure: Callable[[str], float]) -> Callable[[], None]:
        def go() -> None:
            found[side] = measure(own_topic())

        return go

    for counts in in_turns(pairs, measured("ours", ours), measured("theirs", theirs)):
        if counts:
            ratio.ours.append(found["ours"])
            ratio.theirs.append(found["theirs"])
    return ratio


def own_topic() -> str:
    return f"bench-{uuid.uuid4().hex[:8]}"
