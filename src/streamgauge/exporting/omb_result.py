"""A case in the form of an OpenMessaging Benchmark result, for whoever has tools for these."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.core.percentiles import percentile_ms
from streamgauge.report.case_document import Case, Statistics
from streamgauge.report.document import Document
from streamgauge.report.result_tables import Row

_DIGITS = {"50": 0.5, "75": 0.75, "95": 0.95, "99": 0.99, "999": 0.999, "9999": 0.9999}
_LEGS = {
    "EndToEndLatency": ("intended_to_received", 1.0),
    "PublishLatency": ("sent_to_acked", 1.0),
    "PublishDelayLatency": ("intended_to_sent", 1000.0),
}
"""Theirs → our leg, and how much of theirs is a ms. Our end-to-end latency begins when a message was due."""
_WINDOW_S = 10
_QUANTILES = (0.0, *(1 - 10.0 ** -(n / 8) for n in range(1, 41)), 1.0)


def omb_result_text(document: Document, case: Case, histogram: Sequence[Row]) -> str:
    size = case.parameters.message_size
    found: dict[str, Any] = {
        "workload": document.name,
        "driver": case.driver,
        "messageSize": size if isinstance(size, int) else None,
        "topics": len(case.parameters.topics),
        "partitions": case.parameters.partitions,
        "producersPerTopic": case.parameters.producers,
        "consumersPerTopic": case.parameters.consumers,
        "version": f"streamgauge {document.environment.get('versions', {}).get('streamgauge', '')}".strip(),
    }
    return json.dumps({**found, **_windows(case), **_aggregated(case, histogram)}, indent=1) + "\n"


def _aggregated(case: Case, histogram: Sequence[Row]) -> dict[str, Any]:
    by_leg: dict[str, list[tuple[float, int]]] = {}
    for row in histogram:
        by_leg.setdefault(row["leg"], []).append((row["value_ms"], row["count"]))
    found: dict[str, Any] = {}
    for theirs, (leg, per_ms) in _LEGS.items():
        statistics, buckets = case.legs[leg], by_leg.get(leg)
        if not statistics.count or not buckets:
            continue
        found |= _latency(f"aggregated{theirs}", statistics, buckets, per_ms)
    return found


def _latency(
    name: str, statistics: Statistics, buckets: Sequence[tuple[float, int]], per_ms: float
) -> dict[str, Any]:
    largest = statistics.max or 0.0

    def at(share: float) -> float:
        """The middle of a bucket may lie outside of what was measured."""
        return max(0.0, min(percentile_ms(buckets, share), largest)) * per_ms

    return {
        f"{name}Avg": max(0.0, statistics.mean or 0.0) * per_ms,
        **{f"{name}{digits}pct": at(share) for digits, share in _DIGITS.items()},
        f"{name}Max": max(0.0, largest) * per_ms,
        f"{name}Quantiles": {str(100 * share): at(share) for share in _QUANTILES},
    }


def _windows(case: Case) -> dict[str, list[float]]:
    """Ten seconds each, as theirs are."""
    windows: dict[int, list[Any]] = {}
    for second in case.seconds:
        windows.setdefault(second.second // _WINDOW_S, []).append(second)
    ordered = [windows[place] for place in sorted(windows)]
    return {
        "publishRate": [_rate(window, "sent") for window in ordered],
        "publishErrorRate": [_rate(window, "failed") for window in ordered],
        "consumeRate": [_rate(window, "received") for window in ordered],
        "publishLatencyAvg": [_mean(window, "sent_to_acked") for window in ordered],
        "endToEndLatencyAvg": [_mean(window, "intended_to_received") for window in ordered],
    }


def _rate(window: Sequence[Any], count: str) -> float:
    return float(sum(getattr(second.accounting, count) for second in window) / len(window))


def _mean(window: Sequence[Any], leg: str) -> float:
    """Of all messages of the window: not a mean of means."""
    found: Mapping[int, Any] = {place: getattr(second.latency_ms, leg) for place, second in enumerate(window)}
    counts = sum(each.count for each in found.values())
    total = sum(each.count * (each.mean or 0.0) for each in found.values())
    return float(max(0.0, total / counts)) if counts else 0.0
