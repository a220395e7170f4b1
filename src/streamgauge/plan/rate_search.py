"""Which rate to try next: steps upwards, then halving; every rate is tried twice, a third time to settle.

Pure: a search that was cut off goes on from its trials as if nothing had happened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from streamgauge.spec.search import LEAST_MESSAGES, Search

AGREEING = 2
"""So many trials of a rate must say the same: with two of three it is settled."""
DELIVERED_SHARE = 0.97
"""Of the rate wanted: with less coming out than going in, latency only has not had the time to grow."""

_DOWNWARD_STEPS = 8
"""Below the first rate, before the search gives up."""
_DIGITS = 4

Ending = Literal["found", "all held", "none held", "time"]


@dataclass(frozen=True)
class Trial:
    """One case of the search, judged."""

    case: str
    rate_per_s: float
    missed: list[str]
    """Why it does not hold the objectives; empty: it does."""
    figures: dict[str, float | None] = field(default_factory=dict)
    took_s: float = 0.0

    @property
    def holds(self) -> bool:
        return not self.missed


@dataclass(frozen=True)
class RateStep:
    """All trials of one rate."""

    rate_per_s: float
    trials: tuple[Trial, ...]

    @property
    def holds(self) -> bool | None:
        """None until enough trials agree."""
        for verdict in (True, False):
            if sum(trial.holds is verdict for trial in self.trials) >= AGREEING:
                return verdict
        return None


class RateSearch:
    """What the trials so far say."""

    def __init__(self, search: Search, step_s: float, trials: Iterable[Trial]) -> None:
        """`step_s`: how long a step is measured."""
        self._search, self._lowest_per_s = search, max(1.0, LEAST_MESSAGES / step_s)
        by_rate: dict[float, list[Trial]] = {}
        for trial in trials:
            by_rate.setdefault(trial.rate_per_s, []).append(trial)
        self.steps = tuple(RateStep(rate, tuple(found)) for rate, found in by_rate.items())
        """In the order in which rates were first tried."""

    @property
    def broken_per_s(self) -> float | None:
        """The lowest rate that does not hold."""
        return min(self._settled(False), default=None)

    @property
    def held_per_s(self) -> float | None:
        """The highest rate that holds, below all that do not."""
        ceiling = self.broken_per_s
        return max((rate for rate in self._settled(True) if ceiling is None or rate < ceiling), default=None)

    @property
    def ending(self) -> Ending | None:
        """How the search came to its end; None while there is something to try."""
        if self.next_rate() is not None:
            return None
        if self.held_per_s is None:
            return "none held"
        return "all held" if self.broken_per_s is None else "found"

    def next_rate(self) -> float | None:
        """None when all is known."""
        unsettled = next((step for step in self.steps if step.holds is None), None)
        if unsettled is not None:
            return unsettled.rate_per_s
        search, held, broken = self._search, self.held_per_s, self.broken_per_s
        if held is None and broken is None:
            return search.from_
        if broken is None:
            assert held is not None
            return None if held >= search.to else min(_round(held * search.factor), search.to)
        if held is None:
            lowest = max(self._lowest_per_s, search.from_ / search.factor**_DOWNWARD_STEPS)
            return None if broken <= lowest else max(_round(broken / search.factor), lowest)
        if broken <= held * (1 + search.within_percent / 100):
            return None
        between = _round(math.sqrt(held * broken))
        # Of rates of a few a second, rounding may leave nothing between.
        return between if held < between < broken else None

    def _settled(self, verdict: bool) -> Iterator[float]:
        return (step.rate_per_s for step in self.steps if step.holds is verdict)


def judge(
    search: Search, rate_per_s: float, figures: dict[str, float | None], problem: str | None
) -> list[str]:
    """Why a trial does not hold, a line each; `problem`: why its case is not whole."""
    missed = [why for objective in search.slo if (why := objective.why_missed(figures)) is not None]
    delivered = figures.get("delivered_per_s")
    if delivered is not None and delivered < DELIVERED_SHARE * rate_per_s:
        missed.append(f"only {delivered:,.0f} of {rate_per_s:,.0f} messages a second were delivered")
    return [*missed, problem] if problem else missed


def _round(rate_per_s: float) -> float:
    """Few digits: nobody wants to read more, and none is reproducible."""
    return float(f"{rate_per_s:.{_DIGITS}g}")
