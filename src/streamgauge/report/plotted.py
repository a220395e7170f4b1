"""What of a case a plot over a knob looks at, whichever family it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PlottedCase:
    case: str
    series: str
    """Its target, or the tool that measured it."""
    knobs: Mapping[str, Any]
    """What cases may differ in, in the order in which they are offered; None: it does not apply."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """What else was varied, and mostly follows from a knob."""
    message_count: int | None = None
    """Of which its latency is; None: not told."""
    min_ms: float | None = None
    mean_ms: float | None = None
    max_ms: float | None = None
    kib: float = 0.0
    messages: float = 0.0
    lasted_s: float = 0.0
    """In which so many KiB and messages went through; 0: not known."""
    is_ok: bool = True
    other_leg: str | None = None
    """What the latency is of, where another tool measured it; None: of ours, from the intended time."""
