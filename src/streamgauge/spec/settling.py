"""What a case says of its warm-up when that goes on until the load is at rest: the terms of it.

Launcher and agents know no more of it than this, whatever the case is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class SettlingTerms:
    limit_s: float
    """How long to wait for rest; then measuring begins all the same, and its figures are not valid."""
    measured_s: float | None = None
    """How long is measured; None: nobody knows beforehand."""
    slots_together: int = 1
    """Slots that are looked at as one: of a load so slow that a single one may have no message."""
    by_rate: bool = False
    """Of a load that goes as fast as it can: its latency is of a queue, what rests is its rate."""
    most_messages: int | None = None
    """That may be sent before it is at rest; then it is at its limit, too."""


@runtime_checkable
class SettlingWork(Protocol):
    """What a case is about, where it may have a warm-up that ends when the load is at rest."""

    @property
    def settling(self) -> SettlingTerms | None:
        """None: how long the warm-up is was said beforehand."""
