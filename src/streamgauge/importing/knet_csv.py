"""The CSV of KNet's benchmark of client libraries, which `streamgauge compare` writes as well.

A row is a repetition: how many µs each library took to produce, and to consume, so many messages of a length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from streamgauge.importing.csv_results import rows_of
from streamgauge.importing.figures import NotThisFormat, ToolCase, ToolLatency, count, optional_number

MARK = "NumPackets;Length;"

_OPERATIONS = {"Prod": "produce", "Cons": "consume", "RoundTrip": "round_trip"}
_NOT_A_LATENCY = "A time is that of all messages of a repetition together, not of one message."
_KNETS_OWN = "KNET"
_ONE_FIRST = "One library always went first: what drifts on the machine looks like a difference between them."
_US_PER_MS, _US_PER_S = 1000, 1_000_000

Cell = tuple[int, int, str, str]
"""Messages, length, library, operation."""


def read_knet(text: str) -> list[ToolCase]:
    """A case for each library and operation at each number and length of messages."""
    times_us: dict[Cell, list[float]] = {}
    for line, row in enumerate(rows_of(text, delimiter=";"), 2):
        where = f"KNet, line {line}"
        messages, length = count(row["NumPackets"], where), count(row["Length"], where)
        for name, value in _times(row):
            time_us = optional_number(value, where)
            # With --ProduceOnly the clock of a consumer is never started: its 0 is no time.
            if time_us:
                times_us.setdefault((messages, length, *_column(name)), []).append(time_us)
    if not times_us:
        raise NotThisFormat("KNet: has no time below its columns")
    # Ours take turns, and write the same columns under other names.
    is_knets_own = any(library == _KNETS_OWN for _, _, library, _ in times_us)
    notes = (_NOT_A_LATENCY, _ONE_FIRST) if is_knets_own else (_NOT_A_LATENCY,)
    return [_case(cell, found, notes) for cell, found in times_us.items()]


def _times(row: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in row.items() if name not in ("NumPackets", "Length")]


def _column(name: str) -> tuple[str, str]:
    """KNETProd → KNET, produce."""
    found = re.fullmatch(f"(.+)({'|'.join(_OPERATIONS)})", name)
    if found is None:
        allowed = ", ".join(f"…{ending}" for ending in _OPERATIONS)
        raise NotThisFormat(f"KNet: column {name!r} is of no operation; allowed: {allowed}")
    return found[1], _OPERATIONS[found[2]]


def _case(cell: Cell, times_us: list[float], notes: Sequence[str]) -> ToolCase:
    messages, length, library, operation = cell
    per_s = messages * _US_PER_S / fmean(times_us)
    latency = ToolLatency(
        f"{operation}: all messages of a repetition",
        count=len(times_us),
        mean=fmean(times_us) / _US_PER_MS,
        min=min(times_us) / _US_PER_MS,
        max=max(times_us) / _US_PER_MS,
        percentiles={"p50": median(times_us) / _US_PER_MS},
    )
    return ToolCase(
        "knet-benchmark",
        [latency],
        rate_per_s=per_s,
        bytes_per_s=per_s * length,
        message_count=messages * len(times_us),
        settings={
            "library": library,
            "operation": operation,
            "messages": messages,
            "message.size": length,
        },
        notes=notes,
    )
