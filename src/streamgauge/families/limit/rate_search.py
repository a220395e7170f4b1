"""Which rate to try next: steps upwards, then halving; every rate is tried twice, a third time to settle.

A system that has just started is slower than it will be, and a rate that missed then may hold later: the
lowest rate that does not hold is tried again when the search would end with it, and when all that holds came
after it. Two trials in a row that hold overturn what was said before.

A trial that did not come to rest decides nothing where rest would have decided otherwise: latency that rose
within its bounds, or fell and was not within them. A rate with such trials is not decidable: the search goes
on below it, and says so.

Pure: a search that was cut off goes on from its trials as if nothing had happened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from streamgauge.core.outcomes import Outcome
from streamgauge.families.limit.section import LEAST_MESSAGES, Search
from streamgauge.spec.metrics import RATE, BoundUnit
from streamgauge.spec.objective import Objective

DELIVERED_SHARE = 0.97
"""Of the rate wanted: with less coming out than going in, latency only has not had the time to grow."""

DELIVERED = "delivered_per_s"
"""The figure of a step that says what came out."""

ROSE_FROM, ROSE_TO = "rose_from_ms", "rose_to_ms"
"""Of a step whose latency rose while it was measured: the median of a second at first, and in the end."""

FELL_FROM, FELL_TO = "fell_from_ms", "fell_to_ms"
"""The same of one whose latency fell."""

_NEAR_A_BOUND = 0.1
"""Of the least bound on a latency: a median that rises to less does not say that the bound will be missed."""
_ENOUGH = 3
"""Trials after which a rate that missed at the very beginning is not doubted for that any more."""
_DOWNWARD_STEPS = 8
"""Below the first rate, before the search gives up."""
_DIGITS = 4

Ending = Literal["found", "all held", "none held", "not decidable", "time"]


@dataclass(frozen=True)
class Trial:
    """One case of the search, judged."""

    case: str
    rate_per_s: float
    missed: list[str]
    """Why it does not hold the objectives."""
    figures: dict[str, float | None] = field(default_factory=dict)
    took_s: float = 0.0
    doubts: list[str] = field(default_factory=list)
    """Why nobody can say whether it does."""

    @property
    def outcome(self) -> Outcome:
        if self.missed:
            return Outcome.MISSED
        return Outcome.NOT_DECIDABLE if self.doubts else Outcome.MET


@dataclass(frozen=True)
class RateStep:
    """All trials of one rate."""

    rate_per_s: float
    trials: tuple[Trial, ...]

    places: tuple[int, ...]
    """Of the trials, among all of the search."""

    @property
    def outcome(self) -> Outcome | None:
        """None until two trials in a row agree, or there are three."""
        return _settled([trial.outcome for trial in self.trials])

    @property
    def holds(self) -> bool:
        return self.outcome is Outcome.MET

    @property
    def was_overturned(self) -> bool:
        """It holds, and was said not to."""
        said = [trial.outcome for trial in self.trials]
        before = (_settled(said[:count]) for count in range(2, len(said)))
        return self.holds and any(outcome not in (None, Outcome.MET) for outcome in before)


class RateSearch:
    """What the trials so far say."""

    def __init__(self, search: Search, step_s: float, trials: Iterable[Trial]) -> None:
        """`step_s`: how long a step is measured."""
        self._search, self._lowest_per_s = search, max(1.0, LEAST_MESSAGES / step_s)
        by_rate: dict[float, list[tuple[int, Trial]]] = {}
        for place, trial in enumerate(trials):
            by_rate.setdefault(trial.rate_per_s, []).append((place, trial))
        self.steps = tuple(
            RateStep(rate, tuple(trial for _, trial in found), tuple(place for place, _ in found))
            for rate, found in by_rate.items()
        )
        """In the order in which rates were first tried."""

    @property
    def broken_per_s(self) -> float | None:
        """The lowest rate that does not hold."""
        return min(self._settled(Outcome.MISSED), default=None)

    @property
    def undecided_per_s(self) -> float | None:
        """The lowest rate that is not decidable, if it lies below all that do not hold."""
        ceiling = self._ceiling_per_s
        return None if ceiling is None or ceiling == self.broken_per_s else ceiling

    @property
    def held_per_s(self) -> float | None:
        """The highest rate that holds, below all that do not and all that are not decidable."""
        ceiling = self._ceiling_per_s
        held = self._settled(Outcome.MET)
        return max((rate for rate in held if ceiling is None or rate < ceiling), default=None)

    @property
    def _ceiling_per_s(self) -> float | None:
        """The lowest rate that is not known to hold: the search goes on below."""
        return min(self._settled(Outcome.MISSED, Outcome.NOT_DECIDABLE), default=None)

    @property
    def ending(self) -> Ending | None:
        """How the search came to its end; None while there is something to try."""
        if self.next_rate() is not None:
            return None
        if self.undecided_per_s is not None and (self.held_per_s is not None or self.broken_per_s is None):
            return "not decidable"
        if self.held_per_s is None:
            return "none held"
        return "all held" if self.broken_per_s is None else "found"

    def next_rate(self) -> float | None:
        """None when all is known."""
        unsettled = next((step for step in self.steps if step.outcome is None), None)
        if unsettled is not None:
            return unsettled.rate_per_s
        search, held, broken = self._search, self.held_per_s, self._ceiling_per_s
        if held is None and broken is None:
            return search.from_
        if broken is None:
            assert held is not None
            return None if held >= search.to else min(_round(held * search.factor), search.to)
        if held is None:
            lowest = max(self._lowest_per_s, search.from_ / search.factor**_DOWNWARD_STEPS)
            return None if broken <= lowest else max(_round(broken / search.factor), lowest)
        between = _round(math.sqrt(held * broken))
        # Of rates of a few a second, rounding may leave nothing between.
        is_near = broken <= held * (1 + search.within_percent / 100) or not held < between < broken
        if self._is_doubtful(self._step(broken), self._step(held), is_near):
            return broken
        return None if is_near else between

    def _is_doubtful(self, ceiling: RateStep, floor: RateStep, is_near: bool) -> bool:
        """Whether what missed may have missed only because it came too early."""
        last = ceiling.places[-1]
        if is_near and last < floor.places[0]:
            return True
        held_since = [step for step in self.steps if step.holds and step.places[0] > last]
        held_before = [step for step in self.steps if step.holds and step.places[0] < ceiling.places[0]]
        if held_since and not held_before and len(ceiling.trials) < _ENOUGH:
            return True
        return any(step.was_overturned and step.places[-1] > last for step in self.steps)

    def _step(self, rate_per_s: float) -> RateStep:
        return next(step for step in self.steps if step.rate_per_s == rate_per_s)

    def _settled(self, *outcomes: Outcome) -> Iterator[float]:
        return (step.rate_per_s for step in self.steps if step.outcome in outcomes)


def _settled(said: list[Outcome]) -> Outcome | None:
    if len(said) < 2:
        return None
    if said[-1] == said[-2]:
        return said[-1]
    if len(said) == 2 or _settled(said[:-1]) is not None:
        return None  # what was settled is contested: one more has to decide
    # Of three that are all different none decides.
    return said[-1] if said[-1] == said[-3] else Outcome.NOT_DECIDABLE


@dataclass(frozen=True)
class Judgement:
    """Of a trial: why it does not hold, and why nobody can say, a line each."""

    missed: list[str]
    doubts: list[str]


def judge(
    search: Search, rate_per_s: float, figures: dict[str, float | None], problem: str | None
) -> Judgement:
    """`problem`: why its case is not whole."""
    delivered = figures.get(DELIVERED)
    known = {**figures, RATE.name: delivered}
    missed, doubts = [], []
    fall = _fall(figures)
    for objective in search.slo:
        why = _why_missed(objective, known, rate_per_s)
        if why and fall and objective.unit is BoundUnit.MS and known.get(objective.metric.name) is not None:
            doubts.append(f"{why}; {fall}")
        elif why:
            missed.append(why)
    if delivered is not None and delivered < DELIVERED_SHARE * rate_per_s:
        missed.append(f"only {delivered:,.0f} of {rate_per_s:,.0f} messages a second were delivered")
    if not missed and (rise := _rise_that_counts(search, figures)):
        doubts.append(rise)
    return Judgement([*missed, problem] if problem else missed, doubts)


def _fall(figures: dict[str, float | None]) -> str | None:
    """What misses its bounds on the way down might hold them once it is there."""
    fell_from, fell_to = figures.get(FELL_FROM), figures.get(FELL_TO)
    if fell_from is None or fell_to is None:
        return None
    return f"not at rest: the median of a second fell from {fell_from:.4g} to {fell_to:.4g} ms"


def _rise_that_counts(search: Search, figures: dict[str, float | None]) -> str | None:
    """What is within its bounds on the way up is not known to hold: a longer step might have missed them.
    Microseconds beside a bound of 20 ms are not on the way anywhere."""
    rose_from, rose_to = figures.get(ROSE_FROM), figures.get(ROSE_TO)
    bounds_ms = [objective.bound for objective in search.slo if objective.unit is BoundUnit.MS]
    if rose_from is None or rose_to is None or rose_to < _NEAR_A_BOUND * min(bounds_ms, default=math.inf):
        return None
    return f"not at rest: the median of a second rose from {rose_from:.4g} to {rose_to:.4g} ms"


def _why_missed(objective: Objective, figures: dict[str, float | None], rate_per_s: float) -> str | None:
    """What the figure was, where it does not keep to the objective; one that is not there never does."""
    name, value = objective.metric.name, figures.get(objective.metric.name)
    if value is None:
        return f"{name} is not known, so {objective} is not held"
    if objective.unit is BoundUnit.PERCENT:
        value = 100 * value / rate_per_s
    if objective.holds(value):
        return None
    unit = {BoundUnit.MESSAGES: "", BoundUnit.MS: " ms"}.get(objective.unit, objective.unit.value)
    return f"{name} was {value:,.4g}{unit}, not {objective.sign} {objective.bound:g}{unit}"


def _round(rate_per_s: float) -> float:
    """Few digits: nobody wants to read more, and none is reproducible."""
    return float(f"{rate_per_s:.{_DIGITS}g}")
