"""Metrics: the figures of a case that an objective may be set on. Each family says which its cases have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class BoundUnit(StrEnum):
    """What a bound is in; figures and bounds of one objective are in the same."""

    MS = "ms"
    MESSAGES = "messages"
    PER_S = "/s"
    PERCENT = "%"
    NONE = ""
    """It holds or it does not: `valid`."""


BELOW, AT_LEAST, COUNTED = ("<", "<="), (">", ">="), ("=", "<", "<=")


@dataclass(frozen=True)
class Metric:
    name: str
    units: tuple[BoundUnit, ...]
    signs: tuple[str, ...]
    also: tuple[str, ...] = ()
    """Other words that are taken for it."""
    is_quoted: bool = False
    """It says something of the system only when the case is valid: a latency, a ratio."""
    share: float | None = None
    """Of a percentile: how much lies below it."""

    @property
    def field(self) -> str:
        """As tables and documents name it: p99_9."""
        return self.name.replace(".", "_")


def duration(name: str) -> Metric:
    return Metric(name, (BoundUnit.MS,), BELOW, is_quoted=True)


def count(name: str, *also: str) -> Metric:
    return Metric(name, (BoundUnit.MESSAGES,), COUNTED, also)


def flag(name: str) -> Metric:
    return Metric(name, (BoundUnit.NONE,), ())


VALID = flag("valid")
"""That the figures may be quoted."""

RATE = Metric("rate", (BoundUnit.PER_S, BoundUnit.PERCENT), AT_LEAST)
"""What came out: messages a second, or its share of what was asked for."""

_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,6})?)", re.ASCII)


@dataclass(frozen=True)
class Metrics:
    """Those of a family's cases."""

    named: tuple[Metric, ...]
    has_percentiles: bool = True
    """Any percentile of the latency: p50, p99.99 …"""

    def find(self, name: str) -> Metric | None:
        for metric in self.named:
            if name in (metric.name, *metric.also):
                return metric
        return percentile(name) if self.has_percentiles else None

    def words(self) -> str:
        """All that there are, for whoever named another."""
        return ", ".join(self._names())

    def _names(self) -> Iterator[str]:
        if self.has_percentiles:
            yield "p50, p99.9 or any other percentile"
        yield from (metric.name for metric in self.named)


def percentile(name: str) -> Metric | None:
    """p99.9: of the latency, whichever."""
    match = _PERCENTILE.fullmatch(name)
    if match is None or not (number := Decimal(match[1])):
        return None
    plain = f"{number.normalize():f}"  # p99.90 is p99.9
    return Metric(f"p{plain}", (BoundUnit.MS,), BELOW, is_quoted=True, share=float(number / 100))


OF_MESSAGES = Metrics(
    (
        duration("mean"),
        duration("max"),
        count("lost"),
        count("failed", "errors"),
        count("duplicate", "duplicates"),
        count("out_of_order"),
        count("corrupt", "corrupted"),
        count("unexpected"),
        RATE,
        VALID,
    )
)
"""Of cases of producers and consumers. Latency is from the intended time to the receipt, or to the ack where
nobody receives."""
