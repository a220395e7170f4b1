"""What each knob costs: its main effects, with intervals, and where two knobs depend on each other.

Cases are matched: of two that differ in one knob alone, the ratio of a figure is what that knob did there.
An effect is the geometric mean of such ratios over everything else that was turned, and over the rounds; its
interval is Student's on their logarithms. With a single pair there is no interval, and that is said.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scipy import special

from streamgauge.report.case_document import Case
from streamgauge.report.knob_points import in_order
from streamgauge.report.parameters import KNOBS, plain_value

CONFIDENCE = 0.95
NOTABLE_RATIO = 1.25
"""Effects at two values of another knob that are less than this apart are not worth a word."""

Place = tuple[Any, ...]


def _cpu_us(case: Case) -> float | None:
    known = [value for _, value in case.cpu_us_per_message if value is not None]
    return sum(known) if known else None


RESPONSES: dict[str, Callable[[Case], float | None]] = {
    "p50_ms": lambda case: case.main_latency.p50,
    "p99_ms": lambda case: case.main_latency.p99,
    "messages_per_s": lambda case: case.delivery.messages_per_s,
    "cpu_us_per_message": _cpu_us,
}


class MainEffect(NamedTuple):
    knob: str
    value: Any
    base: Any
    """The value that it is held against: the first one."""
    response: str
    pair_count: int
    ratio: float
    low: float | None
    high: float | None
    """None: a single pair has no interval."""


class Interplay(NamedTuple):
    """The effect of one knob is not the same at two values of another."""

    knob: str
    value: Any
    base: Any
    response: str
    other_knob: str
    least_at: Any
    least_ratio: float
    most_at: Any
    most_ratio: float
    is_certain: bool
    """Whether their intervals are apart; without intervals nobody knows."""


class _Matched(NamedTuple):
    """Figures of cases by their places, one coordinate a knob and then target and round."""

    knobs: Sequence[str]
    figures: Mapping[Place, float]

    def log_ratios(self, knob: str, value: Any, base: Any) -> dict[Place, float]:
        """By the place of the case that has the value."""
        axis = self.knobs.index(knob)
        found = {}
        for place, figure in self.figures.items():
            other = self.figures.get((*place[:axis], base, *place[axis + 1 :]))
            if place[axis] == value and other is not None:
                found[place] = math.log(figure / other)
        return found


def turned_knobs(cases: Sequence[Case]) -> dict[str, list[Any]]:
    """Knobs that have more than one value, with their values in order."""
    found = {name: in_order(value_of(case.parameters) for case in cases) for name, value_of in KNOBS.items()}
    return {name: values for name, values in found.items() if len(values) > 1}


def main_effects(cases: Sequence[Case]) -> list[MainEffect]:
    turned = turned_knobs(cases)
    return [
        MainEffect(knob, value, values[0], response, len(ratios), *_interval(ratios))
        for response, matched in _matched(cases, turned)
        for knob, values in turned.items()
        for value in values[1:]
        if (ratios := list(matched.log_ratios(knob, value, values[0]).values()))
    ]


def interplays(cases: Sequence[Case]) -> list[Interplay]:
    """Pairs of knobs that depend on each other, each named once: by the knob that is listed first."""
    turned = turned_knobs(cases)
    found = []
    for response, matched in _matched(cases, turned):
        for number, (knob, values) in enumerate(turned.items()):
            for other in list(turned)[number + 1 :]:
                depends = [
                    one
                    for value in values[1:]
                    if (one := _interplay(matched, knob, value, values[0], response, other)) is not None
                ]
                # The value at which it shows most stands for all.
                if depends:
                    found.append(max(depends, key=lambda one: one.most_ratio / one.least_ratio))
    return found


def _interplay(
    matched: _Matched, knob: str, value: Any, base: Any, response: str, other: str
) -> Interplay | None:
    axis = matched.knobs.index(other)
    by_other: dict[Any, list[float]] = defaultdict(list)
    for place, ratio in matched.log_ratios(knob, value, base).items():
        by_other[place[axis]].append(ratio)
    if len(by_other) < 2:
        return None
    known = {at: _interval(ratios) for at, ratios in by_other.items()}
    least, most = min(known, key=lambda at: known[at][0]), max(known, key=lambda at: known[at][0])
    if known[most][0] < NOTABLE_RATIO * known[least][0]:
        return None
    high, low = known[least][2], known[most][1]
    is_certain = high is not None and low is not None and high < low
    return Interplay(
        knob, value, base, response, other, least, known[least][0], most, known[most][0], is_certain
    )


def _matched(cases: Sequence[Case], turned: Iterable[str]) -> Iterator[tuple[str, _Matched]]:
    knobs = list(turned)
    for response, figure_of in RESPONSES.items():
        figures = {
            (
                *(plain_value(KNOBS[knob](case.parameters)) for knob in knobs),
                case.target,
                case.iteration,
            ): figure
            for case in cases
            if (figure := figure_of(case)) is not None and figure > 0
        }
        yield response, _Matched(knobs, figures)


def _interval(log_ratios: Sequence[float]) -> tuple[float, float | None, float | None]:
    count = len(log_ratios)
    mean = math.fsum(log_ratios) / count
    if count < 2:
        return math.exp(mean), None, None
    variance = math.fsum((value - mean) ** 2 for value in log_ratios) / (count - 1)
    reach = float(special.stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * math.sqrt(variance / count)
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)
