"""An objective: what a figure of a step has to keep to, as people write it: `p99<20ms`, `lost=0`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import model_serializer, model_validator

from streamgauge.core.units import parse_seconds
from streamgauge.spec.model import SpecModel

LATENCY_FIGURES = ("mean", "p50", "p75", "p90", "p95", "p98", "p99", "p99.9", "max")
"""Of the latency from the intended time to the receipt."""
COUNT_FIGURES = ("lost", "failed", "duplicate", "out_of_order", "corrupt", "unexpected")
"""Messages to which something happened that should not."""

_MS_PER_S = 1000.0
_EXAMPLES = "as in p99<20ms or lost=0"
_OBJECTIVE = re.compile(r"\s*(?P<figure>[\w.]+)\s*(?P<sign><=|<|=)\s*(?P<limit>\S.*?)\s*")


class Objective(SpecModel):
    """Latencies are kept in ms."""

    figure: str
    sign: Literal["<", "<=", "="]
    limit: float

    @model_validator(mode="before")
    @classmethod
    def _parsed(cls, text: Any) -> Any:
        if not isinstance(text, str):
            return text
        if (match := _OBJECTIVE.fullmatch(text)) is None:
            raise ValueError(f"{text!r} is not an objective; {_EXAMPLES}")
        figure, sign, limit = match["figure"], match["sign"], match["limit"]
        if figure in LATENCY_FIGURES:
            return {"figure": figure, "sign": _below(text, sign), "limit": _milliseconds(text, limit)}
        if figure in COUNT_FIGURES:
            if not limit.isascii() or not limit.isdigit():
                raise ValueError(f"{text!r}: {limit!r} is not a number of messages; {_EXAMPLES}")
            if sign == "<" and int(limit) == 0:
                raise ValueError(f"{text!r}: no count is below 0; write {figure}=0")
            return {"figure": figure, "sign": sign, "limit": int(limit)}
        known = ", ".join((*LATENCY_FIGURES, *COUNT_FIGURES))
        raise ValueError(f"{text!r}: there is no figure {figure!r}; allowed: {known}")

    @model_serializer
    def _written(self) -> str:
        return str(self)

    def __str__(self) -> str:
        unit = "ms" if self.is_latency else ""
        return f"{self.figure}{self.sign}{self.limit:g}{unit}"

    @property
    def is_latency(self) -> bool:
        return self.figure in LATENCY_FIGURES

    def why_missed(self, figures: Mapping[str, float | None]) -> str | None:
        """What the figure was, where it does not keep to this; a figure that is not there never does."""
        value = figures.get(self.figure)
        if value is None:
            return f"{self.figure} is not known, so {self} is not held"
        if self._holds(value):
            return None
        unit = " ms" if self.is_latency else ""
        return f"{self.figure} was {value:,.4g}{unit}, not {self.sign} {self.limit:g}{unit}"

    def _holds(self, value: float) -> bool:
        if self.sign == "<":
            return value < self.limit
        return value <= self.limit if self.sign == "<=" else value == self.limit


def _below(text: str, sign: str) -> str:
    if sign == "=":
        raise ValueError(f"{text!r}: no latency is met to the nanosecond; use < or <=")
    return sign


def _milliseconds(text: str, limit: str) -> float:
    if limit[-1].isdigit():
        raise ValueError(f"{text!r}: {limit!r} has no unit; {_EXAMPLES}")
    milliseconds = parse_seconds(limit) * _MS_PER_S
    if milliseconds <= 0:
        raise ValueError(f"{text!r}: no latency is below 0; {_EXAMPLES}")
    return round(milliseconds, 9)
