"""HdrHistogram's own files: logs (`.hlog`), of which all intervals are added up, and percentile tables."""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.percentiles import weighted_percentiles
from streamgauge.importing.figures import (
    NotThisFormat,
    ToolCase,
    ToolInterval,
    ToolLatency,
    count,
    number,
    percentile_name,
)

LOG_MARK, TABLE_MARK = "Interval_Compressed_Histogram", "1/(1-Percentile)"
_COMPRESSED, _PLAIN = 0x1C849304, 0x1C849303
_COOKIE_BASE = 0xFFFFFF0F
"""All but the bits in which a cookie says how wide its counts are."""
_HEAD = struct.Struct(">iiiiqqd")
_MOST_BYTES = 64 * 1024**2
"""Of one histogram, unpacked: five digits up to a day are 2 MB."""
_MOST_DIGITS, _MOST_PLACES = 5, 2**24
_SHARES = (0.0, *(1 - 10.0 ** -(n / 8) for n in range(1, 49)), 1.0)
_UNITS_PER_MS = {"ns": 1e6, "us": 1e3, "ms": 1.0, "s": 1e-3}
_NAMED = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)
_BELOW = re.compile(r"#\[Max\s*=\s*(?P<max>[\d.]+), Total count\s*=\s*(?P<count>\d+)\]")
_MEAN = re.compile(r"#\[Mean\s*=\s*(?P<mean>[\d.]+),")

UNITS = tuple(_UNITS_PER_MS)


def read_histogram_log(text: str, unit: str | None = None) -> list[ToolCase]:
    """One case for each tag. Values are taken as nanoseconds unless it is said what they are."""
    per_ms = _UNITS_PER_MS[unit or "ns"]
    tags: dict[str, dict[int, int]] = {}
    intervals: dict[str, list[ToolInterval]] = {}
    for tag, begin_s, lasted_s, encoded in _log_rows(text):
        found = decoded_histogram(encoded)
        merged = tags.setdefault(tag, {})
        for value, times in found.items():
            merged[value] = merged.get(value, 0) + times
        rate = sum(found.values()) / lasted_s if lasted_s else None
        most = max(found) / per_ms if found else None
        intervals.setdefault(tag, []).append(ToolInterval(begin_s, rate, max_ms=most))
    cases = [_case(tag, counts, per_ms, unit, intervals[tag]) for tag, counts in tags.items() if counts]
    if not cases:
        raise NotThisFormat("HdrHistogram log: has no histogram with a value in it, or is cut off")
    return cases


def _case(
    tag: str, counts: Mapping[int, int], per_ms: float, unit: str | None, intervals: list[ToolInterval]
) -> ToolCase:
    values = np.array(sorted(counts), np.int64)
    times = np.array([counts[value] for value in values.tolist()], np.int64)
    total = int(times.sum())
    found = weighted_percentiles(values, times, np.zeros(1, np.int64), _SHARES)
    shares = {percent: percent / 100 for percent in _NAMED}
    named = weighted_percentiles(values, times, np.zeros(1, np.int64), list(shares.values()))
    latency = ToolLatency(
        "not told",
        count=total,
        mean=float((values * times).sum()) / total / per_ms,
        min=float(values[0]) / per_ms,
        max=float(values[-1]) / per_ms,
        percentiles={
            percentile_name(percent): float(each[0]) / per_ms
            for percent, each in zip(shares, named, strict=True)
        },
        curve=[(share, float(each[0]) / per_ms) for share, each in zip(_SHARES, found, strict=True)],
    )
    notes = ["A histogram does not tell from when to when its values run."]
    if unit is None:
        notes.append("Values were taken as nanoseconds, the file does not say; --unit says another.")
    # Intervals of one tag follow each other; a log of a single one has no rate of its own.
    rates = [each.rate_per_s for each in intervals if each.rate_per_s is not None]
    return ToolCase(
        "hdrhistogram-log",
        [latency],
        rate_per_s=sum(rates) / len(rates) if rates else None,
        message_count=total,
        settings={"tag": tag} if tag else {},
        intervals=intervals if len(intervals) > 1 else (),
        notes=notes,
    )


def _log_rows(text: str) -> Iterator[tuple[str, float, float, str]]:
    """Tag, begin and length in seconds, the histogram as text."""
    first: float | None = None
    for line_number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith(("#", '"StartTimestamp"', "StartTimestamp")):
            continue
        where = f"HdrHistogram log, line {line_number}"
        tag, rest = "", line
        if line.startswith("Tag="):
            tag, _, rest = line.removeprefix("Tag=").partition(",")
        cells = rest.split(",")
        if len(cells) != 4:
            raise NotThisFormat(f"{where}: is no start, length, maximum and histogram, or is cut off")
        begin = number(cells[0], where)
        first = begin if first is None else first
        yield tag, begin - first, number(cells[1], where), cells[3].strip()


def decoded_histogram(text: str) -> dict[int, int]:
    """Value (the middle of its bucket) → how many; refuses what is no histogram, or too large."""
    try:
        packed = base64.b64decode(text, validate=True)
        cookie, length = struct.unpack_from(">ii", packed)
    except (binascii.Error, ValueError, struct.error):
        raise NotThisFormat("HdrHistogram: is no base64 text of a histogram, or is cut off") from None
    if cookie & _COOKIE_BASE != _COMPRESSED or length != len(packed) - 8:
        raise NotThisFormat("HdrHistogram: is not a compressed histogram of the second format, or is cut off")
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(packed[8:], _MOST_BYTES)
    except zlib.error as error:
        raise NotThisFormat(f"HdrHistogram: cannot be unpacked: {error}") from None
    if unpacking.unconsumed_tail:
        raise NotThisFormat(f"HdrHistogram: unpacks to more than {_MOST_BYTES >> 20} MiB: refused")
    return _counts(plain)


def _counts(plain: bytes) -> dict[int, int]:
    try:
        cookie, length, offset, digits, lowest, _, _ = _HEAD.unpack_from(plain)
    except struct.error:
        raise NotThisFormat("HdrHistogram: ends within its head") from None
    payload = plain[_HEAD.size :]
    if (
        cookie & _COOKIE_BASE != _PLAIN
        or length > len(payload)
        or not 0 <= digits <= _MOST_DIGITS
        or lowest < 1
    ):
        raise NotThisFormat("HdrHistogram: its head is not one of the second format")
    unit_bits = lowest.bit_length() - 1
    half_bits = max(1, (2 * 10**digits - 1).bit_length()) - 1
    found: dict[int, int] = {}
    place = -offset
    for times in _zigzag(payload[:length]):
        if times < 0:
            place -= times
        else:
            if times:
                found[_middle(place, half_bits, unit_bits)] = times
            place += 1
        if place > _MOST_PLACES:
            raise NotThisFormat("HdrHistogram: has more buckets than any histogram")
    return found


def _zigzag(payload: bytes) -> Iterator[int]:
    """Numbers in 7-bit pieces, the ninth with all 8."""
    at = 0
    while at < len(payload):
        value = shift = 0
        for piece in range(9):
            if at >= len(payload):
                raise NotThisFormat("HdrHistogram: ends within a count")
            byte = payload[at]
            at += 1
            if piece == 8:
                value |= byte << shift
                break
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield (value >> 1) ^ -(value & 1)


def _middle(place: int, half_bits: int, unit_bits: int) -> int:
    bucket = (place >> half_bits) - 1
    within = (place & ((1 << half_bits) - 1)) + (1 << half_bits)
    if bucket < 0:
        within -= 1 << half_bits
        bucket = 0
    low = within << (bucket + unit_bits)
    return low + (1 << (bucket + unit_bits) >> 1)


def read_percentile_table(text: str, unit: str | None = None) -> list[ToolCase]:
    """`.hgrm`: values by percentile; taken as milliseconds unless it is said what they are."""
    per_ms = _UNITS_PER_MS[unit or "ms"]
    where, curve = "HdrHistogram table", []
    for line in text.splitlines():
        cells = line.replace(",", " ").split()
        if len(cells) >= 3 and cells[0][:1].isdigit():
            curve.append((number(cells[1], where), number(cells[0], where) / per_ms))
    below, mean = _BELOW.search(text), _MEAN.search(text)
    if not curve or below is None or mean is None:
        raise NotThisFormat(f"{where}: the lines with mean, maximum and count are missing: it is cut off")
    values: NDArray[np.float64] = np.array([value for _, value in curve])
    shares = np.array([share for share, _ in curve])
    known = [percent for percent in _NAMED if percent / 100 <= shares[-2 if len(shares) > 1 else -1]]
    latency = ToolLatency(
        "not told",
        count=count(below["count"], where),
        mean=number(mean["mean"], where) / per_ms,
        max=number(below["max"], where) / per_ms,
        percentiles={percentile_name(p): float(values[np.searchsorted(shares, p / 100)]) for p in known},
        curve=curve,
    )
    notes = ["A histogram does not tell from when to when its values run."]
    if unit is None:
        notes.append("Values were taken as milliseconds, the file does not say; --unit says another.")
    return [ToolCase("hdrhistogram-table", [latency], message_count=latency.count, notes=notes)]
