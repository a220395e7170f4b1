"""Histograms as the usual HdrHistogram tools read them: logs (`.hlog`) and percentile tables (`.hgrm`).

Values are nanoseconds with three significant digits, as in HdrHistogram's second format. Table `histogram`
has buckets of the same width, so nothing is lost on the way.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from streamgauge.report.result_tables import Row

NS_PER_MS = 1_000_000
_DIGITS = 3
_SUB_BUCKET_BITS = 11
_HALF_BITS = _SUB_BUCKET_BITS - 1
_COOKIE, _COMPRESSED_COOKIE = 0x1C849313, 0x1C849314
_TICKS_PER_HALF = 5


def hlog_text(rows: list[Row], lasted_s: float) -> str:
    """A log of one interval. HdrHistogram holds nothing below zero: that stands as 0, and it is said."""
    values, counts, below = _nanoseconds(rows)
    top_ms = int(values[-1]) / NS_PER_MS
    encoded = base64.b64encode(encoded_histogram(values, counts)).decode()
    said = [f"#[{below} values below zero are recorded as 0]"] if below else []
    return "\n".join(
        [
            "#[Histogram log format version 1.3]",
            "#[StartTime: 0.000 (seconds since epoch)]",
            *said,
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
            f"0.000,{lasted_s:.3f},{top_ms:.3f},{encoded}",
            "",
        ]
    )


def hgrm_text(rows: list[Row]) -> str:
    """Values in ms by percentile, five to every halving of the distance to 100%."""
    values, counts, _ = _nanoseconds(rows)
    up_to = np.cumsum(counts)
    total = int(up_to[-1])
    lines = [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>16}", ""]
    for quantile in _quantiles(total):
        place = int(np.searchsorted(up_to, max(1, int(np.ceil(quantile * total)))))
        rest = f"{1 / (1 - quantile):14.2f}"
        lines.append(f"{values[place] / NS_PER_MS:12.6f} {quantile:2.12f} {up_to[place]:10d} {rest}")
    lines.append(f"{values[-1] / NS_PER_MS:12.6f} {1:2.12f} {total:10d}")
    mean = float((values * counts).sum()) / total
    deviation = float(np.sqrt((counts * (values - mean) ** 2).sum() / total))
    buckets = max(1, int(values[-1]).bit_length() - _SUB_BUCKET_BITS + 1)
    lines += [
        f"#[Mean    = {mean / NS_PER_MS:12.6f}, StdDeviation   = {deviation / NS_PER_MS:12.6f}]",
        f"#[Max     = {values[-1] / NS_PER_MS:12.6f}, Total count    = {total:12d}]",
        f"#[Buckets = {buckets:12d}, SubBuckets     = {1 << _SUB_BUCKET_BITS:12d}]",
    ]
    return "\n".join(lines) + "\n"


def encoded_histogram(values: NDArray[np.int64], counts: NDArray[np.int64]) -> bytes:
    """The compressed form of a histogram of these values (ns, ascending)."""
    filled: dict[int, int] = {}
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        place = _place(value)
        filled[place] = filled.get(place, 0) + count
    payload = b"".join(_runs(filled))
    highest = max(2, 1 << int(values[-1]).bit_length())
    head = struct.pack(">iiiiqqd", _COOKIE, len(payload), 0, _DIGITS, 1, highest, 1.0)
    squeezed = zlib.compress(head + payload)
    return struct.pack(">ii", _COMPRESSED_COOKIE, len(squeezed)) + squeezed


def _nanoseconds(rows: list[Row]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    ordered = sorted(rows, key=lambda row: row["value_ms"])
    values = np.array([round(row["value_ms"] * NS_PER_MS) for row in ordered], np.int64)
    counts = np.array([row["count"] for row in ordered], np.int64)
    return np.maximum(values, 0), counts, int(counts[values < 0].sum())


def _place(value: int) -> int:
    """Where HdrHistogram counts it."""
    bucket = max(0, value.bit_length() - _SUB_BUCKET_BITS)
    return (bucket + 1 << _HALF_BITS) + (value >> bucket) - (1 << _HALF_BITS)


def _runs(filled: dict[int, int]) -> Iterable[bytes]:
    """Counts in order; a run of zeros is one negative number."""
    next_place = 0
    for place in sorted(filled):
        if place > next_place:
            yield _zigzag(next_place - place)
        yield _zigzag(filled[place])
        next_place = place + 1


def _zigzag(number: int) -> bytes:
    """Small numbers of either sign in few bytes: seven bits each, the ninth byte has eight."""
    left = number << 1 if number >= 0 else (-number << 1) - 1
    written = bytearray()
    for _ in range(8):
        if left < 0x80:
            return bytes([*written, left])
        written.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*written, left])


def _quantiles(total: int) -> Iterable[float]:
    step, at = 1 / (2 * _TICKS_PER_HALF), 0.0
    while (1 - at) * total >= 1:
        for tick in range(_TICKS_PER_HALF):
            yield at + tick * step
        at, step = at + _TICKS_PER_HALF * step, step / 2
