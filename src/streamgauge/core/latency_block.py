"""Latencies as a block of text: the benchmark that fan-out follows prints it every minute.

Its lines are kept as they are there, but for two more percentiles, and a mean that is not cut to
a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

COLUMNS = 8
STARS = 20
PERCENTS = ("25", "50", "75", "90", "95", "98", "99", "99.9")
_ZOOM = "90"


def latency_block(
    counts: Mapping[int, int], duration_s: float, mean_ms: float | None = None, sd_ms: float | None = None
) -> list[str]:
    """`counts`: how many samples had so many whole ms. Mean and SD are worked out of these unless given."""
    hours, rest = divmod(int(duration_s), 3600)
    samples = sum(counts.values())
    lines = [
        f"Test Duration: {hours} Hours {rest // 60} minutes and {rest % 60} seconds",
        f"Number of samples: {samples}",
    ]
    if not samples:
        return lines
    if mean_ms is None or sd_ms is None:
        mean_ms, sd_ms = moments(counts)
    low, high = min(counts), max(counts)
    ranks = {percent: percentile(counts, float(percent)) for percent in PERCENTS}
    return [
        *lines,
        f"Min = {low} ms",
        f"Mean = {_tenths(mean_ms)} ms - Standard Deviation = {_tenths(sd_ms)} ms",
        f"Max = {high} ms",
        *(f"{percent}th Percentile = {ranks[percent]} ms" for percent in PERCENTS),
        "Min",
        *_histogram(counts, low, high),
        "Max",
        "",
        "ZOOM",
        "Min",
        *_histogram({ms: n for ms, n in counts.items() if ms < ranks[_ZOOM]}, low, ranks[_ZOOM]),
        f"{_ZOOM}th percentile",
    ]


def percentile(counts: Mapping[int, int], percent: float) -> int:
    """By nearest rank: the smallest value that so many percent of the samples do not exceed."""
    rank = max(1, math.ceil(round(sum(counts.values()) * percent / 100, 9)))
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= rank:
            return value
    raise ValueError("there are no samples")


def moments(counts: Mapping[int, int]) -> tuple[float, float]:
    """Mean and standard deviation of what was counted."""
    samples = sum(counts.values())
    mean = sum(value * count for value, count in counts.items()) / samples
    squares = sum(count * (value - mean) ** 2 for value, count in counts.items())
    return mean, math.sqrt(squares / (samples - 1)) if samples > 1 else 0.0


def _histogram(counts: Mapping[int, int], low: int, high: int) -> list[str]:
    width = max(1, math.ceil((high - low) / COLUMNS))
    columns = [0] * COLUMNS
    for value, count in counts.items():
        columns[min(COLUMNS - 1, (value - low) // width)] += count
    tallest = max(columns)
    lines = []
    for number, count in enumerate(columns):
        begin = low + number * width
        bar = f" {'*' * (STARS * count // tallest)}|" if count else ""
        lines.append(f"{begin:04d} - {begin + width:04d}{bar}")
    return lines


def _tenths(value: float) -> str:
    """One decimal, and none where it would be a 0."""
    return f"{value:.1f}".removesuffix(".0")
