"""An objective: what a figure of a case has to keep to, as people write it: `p99<20ms`, `lost=0`, `valid`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import model_serializer

from streamgauge.core.errors import BadInput
from streamgauge.core.units import parse_rate, parse_seconds
from streamgauge.spec.families import family_of
from streamgauge.spec.metrics import BoundUnit, Metric, Metrics
from streamgauge.spec.model import SpecModel

_MS_PER_S = 1000.0
_MOST_DIGITS = 15
"""Of a count: as many as a double has."""
_EXAMPLES = "as in p99<20ms, lost=0 or valid"
_OBJECTIVE = re.compile(r"\s*(?P<name>\w[\w.]*)\s*(?:(?P<sign><=|>=|<|>|=)\s*(?P<bound>\S.*?)\s*)?")


class Objective(SpecModel):
    """Made by `read_objective`; in files it is the text that people write."""

    metric: Metric
    sign: str = ""
    bound: float = 0.0
    unit: BoundUnit = BoundUnit.NONE

    @model_serializer
    def _written(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.unit is BoundUnit.NONE:
            return self.metric.name
        unit = "" if self.unit is BoundUnit.MESSAGES else self.unit.value
        return f"{self.metric.name}{self.sign}{_digits(self.bound)}{unit}"

    def holds(self, figure: float) -> bool:
        """Of a flag: 1 is true."""
        if self.unit is BoundUnit.NONE:
            return bool(figure)
        return {
            "<": figure < self.bound,
            "<=": figure <= self.bound,
            "=": figure == self.bound,
            ">=": figure >= self.bound,
            ">": figure > self.bound,
        }[self.sign]


def objectives_of(kind: str, given: Any) -> tuple[Objective, ...]:
    """As a file or flags have them, for a workload of this kind."""
    return read_objectives(given, family_of(kind).metrics())


def flagged_objectives(kind: str, texts: Sequence[str]) -> tuple[Objective, ...]:
    """Of `--slo`."""
    try:
        return objectives_of(kind, list(texts))
    except ValueError as error:
        raise BadInput(f"--slo: {error}") from None


def read_objectives(given: Any, metrics: Metrics) -> tuple[Objective, ...]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, (list, tuple)):
        raise ValueError(f"must be a list of objectives, {_EXAMPLES}, not {given!r}")
    found = tuple(text if isinstance(text, Objective) else read_objective(text, metrics) for text in texts)
    names = [objective.metric.name for objective in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} has two objectives; give one of them")
    return found


def read_objective(text: Any, metrics: Metrics) -> Objective:
    """A metric that cases do not have is refused, with those that they have."""
    match = _OBJECTIVE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is not an objective; {_EXAMPLES}")
    metric = metrics.find(match["name"])
    if metric is None:
        raise ValueError(f"{text!r}: there is no figure {match['name']!r}; allowed: {metrics.words()}")
    sign, bound = match["sign"], match["bound"]
    if metric.units == (BoundUnit.NONE,):
        if sign is not None:
            raise ValueError(f"{text!r}: {metric.name} holds or does not: write it alone")
        return Objective(metric=metric)
    if sign is None:
        raise ValueError(f"{text!r} is not an objective: {metric.name} needs a bound; {_EXAMPLES}")
    if sign not in metric.signs:
        raise ValueError(f"{text!r}: of {metric.name} use {' or '.join(metric.signs)}")
    value, unit = _bound(text, metric, bound)
    if unit is BoundUnit.MESSAGES and sign == "<" and not value:
        raise ValueError(f"{text!r}: no count is below 0; write {metric.name}=0")
    return Objective(metric=metric, sign=sign, bound=value, unit=unit)


def _bound(text: str, metric: Metric, bound: str) -> tuple[float, BoundUnit]:
    if bound.endswith("%") and BoundUnit.PERCENT in metric.units:
        return _percent(text, bound), BoundUnit.PERCENT
    unit = metric.units[0]
    if unit is BoundUnit.MESSAGES:
        if not (bound.isascii() and bound.isdigit() and len(bound) <= _MOST_DIGITS):
            raise ValueError(f"{text!r}: {bound!r} is not a number of messages; {_EXAMPLES}")
        return int(bound), unit
    if unit is BoundUnit.MS:
        return _milliseconds(text, bound), unit
    if unit is BoundUnit.PERCENT:
        raise ValueError(f"{text!r}: {bound!r} is not a share in %, as in {metric.name}<105%")
    per_s = parse_rate(bound)
    if per_s <= 0:
        raise ValueError(f"{text!r}: a rate is above 0")
    return per_s, unit


def _percent(text: str, bound: str) -> float:
    try:
        percent = float(bound[:-1])
    except ValueError:
        percent = 0.0
    if not 0 < percent < 1e6:
        raise ValueError(f"{text!r}: {bound!r} is not a share, as in 95%")
    return percent


def _milliseconds(text: str, bound: str) -> float:
    if bound[-1].isdigit():
        raise ValueError(f"{text!r}: {bound!r} has no unit; {_EXAMPLES}")
    milliseconds = parse_seconds(bound) * _MS_PER_S
    if milliseconds <= 0:
        raise ValueError(f"{text!r}: no latency is below 0; {_EXAMPLES}")
    return round(milliseconds, 9)


def _digits(value: float) -> str:
    """All of them: what is written is read back the same."""
    return f"{value:.0f}" if value == int(value) else repr(float(value))
