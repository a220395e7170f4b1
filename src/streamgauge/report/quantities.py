"""Numbers as people read them: as many digits as say something, and the unit."""

from __future__ import annotations

from streamgauge.core.units import format_bytes

NOTHING = "–"
"""Stands where there is no value."""


def count_text(count: int | None) -> str:
    return NOTHING if count is None else f"{count:,}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def digits_text(value: float | None) -> str:
    """Four figures or so, never an exponent: 0.042, 3.142, 31.42, 314.2, 3,142."""
    if value is None:
        return NOTHING
    size = abs(value)
    decimals = 3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0
    return f"{value:,.{decimals}f}"


def ms_text(value_ms: float | None) -> str:
    return NOTHING if value_ms is None else f"{digits_text(value_ms)} ms"


def s_text(value_s: float | None) -> str:
    return NOTHING if value_s is None else f"{digits_text(value_s)} s"


def us_text(value_us: float | None) -> str:
    return NOTHING if value_us is None else f"{digits_text(value_us)} µs"


def rate_per_s_text(per_s: float | None) -> str:
    """Whole messages from 100/s on; below, the digits count."""
    if per_s is None:
        return NOTHING
    return f"{per_s:,.0f}/s" if per_s >= 99.5 else f"{digits_text(per_s)}/s"


def bytes_per_s_text(per_s: float | None) -> str:
    return NOTHING if per_s is None else f"{format_bytes(per_s)}/s"
