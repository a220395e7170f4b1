"""What other tools' files hold, brought to one form. What a tool does not tell stays None."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamgauge.core.errors import BadInput

Scalar = str | int | float | bool


@dataclass(frozen=True)
class ToolLatency:
    """A latency as the tool gives it, in ms."""

    leg: str
    """From when to when, in the tool's own terms."""
    count: int | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    percentiles: Mapping[str, float] = field(default_factory=dict)
    """p50, p99.9 …: as many as it gives."""
    curve: Sequence[tuple[float, float]] = ()
    """(share, ms), ascending: the distribution, where it is told in more detail."""


@dataclass(frozen=True)
class ToolInterval:
    """What the tool said while it went on."""

    second: float
    rate_per_s: float | None = None
    mean_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None


@dataclass(frozen=True)
class ToolCase:
    """One set of figures."""

    tool: str
    latencies: Sequence[ToolLatency] = ()
    """The one that speaks for the case first."""
    rate_per_s: float | None = None
    bytes_per_s: float | None = None
    message_count: int | None = None
    failed_count: int | None = None
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    intervals: Sequence[ToolInterval] = ()
    version: str | None = None
    notes: Sequence[str] = ()
    """What to know of this tool's figures."""


class NotThisFormat(BadInput):
    """The content is of another format, or is cut off."""


def number(text: object, where: str) -> float:
    """A finite figure, not below zero; else one line that says where."""
    try:
        value = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise NotThisFormat(f"{where}: {text!r} is no number") from None
    if not math.isfinite(value) or value < 0:
        raise NotThisFormat(f"{where}: {text!r} is no figure that can be measured")
    return value


def optional_number(text: object, where: str) -> float | None:
    """None: it is not told."""
    return None if text in (None, "", "N/A") else number(text, where)


def count(text: object, where: str) -> int:
    return int(number(text, where))


def percentile_name(percent: float) -> str:
    """99.9 → p99.9."""
    return f"p{percent:g}"
