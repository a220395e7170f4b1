"""What the report of a comparison calls things; console, Markdown and page say the same."""

from __future__ import annotations

from typing import Any

from streamgauge.core.units import format_bytes
from streamgauge.report.quantities import NOTHING, count_text

OPERATION_NAMES = {"produce": "Produce", "consume": "Consume", "round_trip": "Round trip"}

TEMPERATURE_MEANINGS = {
    "cold": "from before the client is made: connection, metadata and producer id count",
    "warm": "with a client that has worked before: the library alone",
}

VERDICT_LETTERS = {"A faster": "A", "B faster": "B", "equivalent": "=", "inconclusive": "?"}

LEGEND = (
    "Times of A over times of B, in percent: below 100 A is faster. In brackets the 95% interval. "
    "A, B: that one is faster; = equivalent; ? inconclusive; ! the control failed; ✗ something failed."
)


def place_text(row: dict[str, Any]) -> str:
    """`produce warm 1,000 × 100 B`."""
    operation = OPERATION_NAMES[row["operation"]].lower()
    return f"{operation} {row['temperature']} {cell_text(row)}"


def cell_text(row: dict[str, Any]) -> str:
    return f"{count_text(row['messages'])} × {bytes_text(row['length'])}"


def bytes_text(length: int) -> str:
    """Plain bytes, as the lengths of a comparison are given."""
    return f"{count_text(length)} B" if length % 1024 or length < 1024 else format_bytes(length)


def percent_text(value: float | None) -> str:
    """Three figures: 8.04, 87.3, 104, 2,102."""
    if value is None:
        return NOTHING
    decimals = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{decimals}f}"


def interval_text(interval: list[float] | None) -> str:
    return NOTHING if interval is None else f"{percent_text(interval[0])}–{percent_text(interval[1])}"


def p_text(p: float | None) -> str:
    if p is None:
        return NOTHING
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def verdict_mark(row: dict[str, Any]) -> str:
    """A letter, and what takes trust from it."""
    mark = VERDICT_LETTERS[row["verdict"]]
    return mark + ("!" if row["is_tainted"] else "") + ("✗" if row["status"] != "ok" else "")


def verdict_text(row: dict[str, Any], conditions: dict[str, Any]) -> str:
    """The verdict with the libraries' names."""
    names = {"A faster": conditions["a"]["name"], "B faster": conditions["b"]["name"]}
    said = str(row["verdict"])
    if said in names:
        said += f": {names[said]}"
    if row["verdict"] == "equivalent":
        said += f" (±{conditions['equivalence_percent']:g}%)"
    return said + (" – but the control failed" if row["is_tainted"] else "")


def library_text(library: dict[str, Any]) -> str:
    driver = None if library["driver"] == library["name"] else library["driver"]
    about = ", ".join(part for part in (driver, library["version"]) if part)
    loop = ", loop in the JVM" if library["engine"] == "jvm" else ""
    return str(library["name"]) + (f" ({about})" if about else "") + loop
