"""Numbers as people read them: as many digits as say something, and the unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamgauge.core.units import format_bytes
from streamgauge.report.shown_tables import Cell, Unit

NOTHING = "–"
"""Stands where there is no value."""

DOUBT = "~"
"""Stands before what too few messages are behind."""


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


def fine_text(value_ms: float | None) -> str:
    """Microseconds show: below a tenth of a millisecond there are four decimals."""
    if value_ms is None:
        return NOTHING
    return f"{value_ms:.4f}" if abs(value_ms) < 0.1 else digits_text(value_ms)


def percent_text(value: float | None) -> str:
    """Three figures: 8.04, 87.3, 104, 2,102."""
    if value is None:
        return NOTHING
    decimals = 2 if value < 10 else 1 if value < 100 else 0
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


def bits_text(bits_per_s: float | None) -> str:
    """14.5M, 1.16G."""
    if bits_per_s is None:
        return NOTHING
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if bits_per_s >= size:
            return f"{bits_per_s / size:.3g}{unit}"
    return f"{bits_per_s:.0f}"


_FORMS: dict[Unit, Callable[[Any], str]] = {
    Unit.TEXT: str,
    Unit.COUNT: count_text,
    Unit.MS: digits_text,
    Unit.FINE_MS: fine_text,
    Unit.S: s_text,
    Unit.US: digits_text,
    Unit.NUMBER: digits_text,
    Unit.PERCENT: percent_text,
    Unit.PER_S: rate_per_s_text,
    Unit.BYTES: format_bytes,
    Unit.BYTES_PER_S: bytes_per_s_text,
    Unit.BITS_PER_S: bits_text,
}


def cell_text(cell: Cell, unit: Unit) -> str:
    """A cell of a column of this unit, as people read it."""
    if cell.value is None:
        return NOTHING
    of = cell.unit or (Unit.TEXT if isinstance(cell.value, str) else unit)
    text = _FORMS[of](cell.value)
    return f"{DOUBT}{text}" if cell.is_doubtful else text
