"""What the places of a comparison are called: operation and temperature, and a cell of messages × length."""

from __future__ import annotations

from streamgauge.core.units import format_bytes
from streamgauge.report.quantities import count_text

OPERATION_NAMES = {"produce": "Produce", "consume": "Consume", "round_trip": "Round trip"}


def place_words(operation: str, temperature: str, messages: int, length: int) -> str:
    """`produce warm 1,000 × 100 B`."""
    return f"{OPERATION_NAMES[operation].lower()} {temperature} {cell_words(messages, length)}"


def cell_words(messages: int, length: int) -> str:
    return f"{count_text(messages)} × {bytes_text(length)}"


def bytes_text(length: int) -> str:
    """Plain bytes, as the lengths of a comparison are given."""
    return f"{count_text(length)} B" if length % 1024 or length < 1024 else format_bytes(length)
