"""Quantities as people write them: "1KiB", "30s", "10k/s".

A bare number is taken in the base unit (bytes, seconds, messages a second).
"""

from __future__ import annotations

import re

_BYTES = {
    "": 1,
    "b": 1,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
    "kib": 1024,
    "mib": 1024**2,
    "gib": 1024**3,
}
_SECONDS = {"": 1.0, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_COUNT = {"": 1, "k": 1000, "m": 1_000_000}
_TOO_LARGE = 2**63

_QUANTITY = re.compile(
    r"\s*(?P<number>[+-]?\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>[^\d\s]*)\s*", re.ASCII
)


def parse_bytes(text: str | float) -> int:
    """Bytes of "700", "1KiB", "10kB" …"""
    amount = _parse(text, _BYTES, "a size in bytes", "700, 1KiB, 10kB, 1MiB")
    return _whole(amount, text, "a size in bytes")


def parse_seconds(text: str | float) -> float:
    """Seconds of "30s", "500ms", "2min" …"""
    return _parse(text, _SECONDS, "a duration", "500ms, 30s, 2min, 1h")


def parse_count(text: str | float) -> int:
    """A number of things: "10000", "10k", "1M"."""
    return _whole(_parse(text, _COUNT, "a count", "1000, 10k, 1M"), text, "a count")


def parse_rate(text: str | float) -> float:
    """Messages a second of "1000", "10k/s", "600/min"."""
    what, allowed = "a rate", "1000/s, 10k/s, 1.5M/s, 600/min"
    if not isinstance(text, str):
        return _parse(text, _COUNT, what, allowed)
    count, slash, per = text.partition("/")
    seconds = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}.get(per.strip().lower())
    if seconds is None or (slash and not per.strip()):
        raise ValueError(f"{text!r} is not {what}; allowed: {allowed}")
    return _parse(count, _COUNT, what, allowed) / seconds


def parse_bits_per_s(text: str | float) -> float:
    """Of a network: "10G", "25Gbit/s", "100M"."""
    what, allowed = "a rate of bits", "100M, 10G, 25Gbit/s"
    plain = text.strip().removesuffix("/s").removesuffix("bit") if isinstance(text, str) else text
    return _parse(plain, {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}, what, allowed)


def counted(count: int, noun: str) -> str:
    """ "1 partition", "2 partitions"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def format_bytes(amount: float) -> str:
    """The size in the largest binary unit that keeps it at 1 or above."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(amount) < 1024 or unit == "GiB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError("unreachable")


def format_rate(per_s: float) -> str:
    """Messages a second, short: "1.25M/s", "10k/s", "250/s"."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        # What would be rounded up to the next letter gets it.
        if per_s >= 0.9995 * size:
            return f"{per_s / size:.3g}{letter}/s"
    return f"{per_s:.3g}/s"


def _parse(text: object, units: dict[str, int] | dict[str, float], what: str, allowed: str) -> float:
    if isinstance(text, bool) or not isinstance(text, (int, float, str)):
        raise ValueError(f"{text!r} is not {what}; allowed: {allowed}")
    number: float
    if isinstance(text, (int, float)):
        number, factor = text, 1.0
    else:
        match = _QUANTITY.fullmatch(text)
        factor_found = units.get(match["unit"].lower()) if match else None
        if match is None or factor_found is None:
            raise ValueError(f"{text!r} is not {what}; allowed: {allowed}")
        number, factor = float(match["number"].replace("_", "")), float(factor_found)
    if number < 0:
        raise ValueError(f"{text!r} is not {what}: it must not be negative; allowed: {allowed}")
    if not number < _TOO_LARGE / factor:  # or it is no number at all
        raise ValueError(f"{text!r} is not {what}: it is out of range; allowed: {allowed}")
    return number * factor


def _whole(amount: float, text: object, what: str) -> int:
    if abs(amount - round(amount)) > 1e-6:
        raise ValueError(f"{text!r} is not {what}: it must be a whole number")
    return round(amount)
