"""The times of A, B and the control in one place, round by round: those of a round are a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamgauge.families.compare.planned_comparison import SIDES, WARM_UP, Side
from streamgauge.families.compare.verdict import PairedRatio

Place = tuple[str, str, int, int]
"""Operation, temperature, length, messages."""

Estimate = Callable[[Sequence[float], Sequence[float]], PairedRatio | None]
"""From pairs of times: those of one library, those of the other."""

NS_PER_US = 1000.0


class PairedTimes:
    """In µs; what failed and the round that is not counted are left out."""

    def __init__(self) -> None:
        self._by_side: dict[Side, dict[int, float]] = {side: {} for side in SIDES}

    def add(self, trial: Mapping[str, Any]) -> None:
        """`trial`: a row of table `trials` that belongs here."""
        if trial["repetition"] != WARM_UP and trial["elapsed_ns"] is not None:
            # A clock may not have moved in so short a time; a ratio needs something above 0.
            own = self._by_side[trial["side"]]
            own[trial["repetition"]] = max(trial["elapsed_ns"], 1) / NS_PER_US

    def of(self, side: Side) -> list[float]:
        return list(self._by_side[side].values())

    def ratio(self, other: Side, estimate: Estimate) -> PairedRatio | None:
        """A over the other, from the rounds in which both have a time."""
        mine, others = self._by_side["a"], self._by_side[other]
        both = sorted(mine.keys() & others.keys())
        return estimate([mine[r] for r in both], [others[r] for r in both])


def place_of_trial(trial: Mapping[str, Any]) -> Place:
    return trial["operation"], trial["temperature"], trial["length"], trial["messages"]
