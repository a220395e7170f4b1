"""The result file of the OpenMessaging Benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamgauge.importing.figures import (
    NotThisFormat,
    Scalar,
    ToolCase,
    ToolInterval,
    ToolLatency,
    number,
    optional_number,
    percentile_name,
)

_SETTINGS = {
    "workload": "workload",
    "driver": "driver",
    "messageSize": "message.size",
    "topics": "topics",
    "partitions": "partitions",
    "producersPerTopic": "producers_per_topic",
    "consumersPerTopic": "consumers_per_topic",
}
_PERCENTS = {"50": 50.0, "75": 75.0, "95": 95.0, "99": 99.0, "999": 99.9, "9999": 99.99}
_LATENCIES = {
    "EndToEndLatency": ("publish → receipt", 1.0),
    "PublishLatency": ("publish → ack", 1.0),
    "PublishDelayLatency": ("due → publish", 1000.0),
}
"""Of each: what it is, and how much of it makes a ms. The first one that is there speaks for the case."""
_INTERVAL_S = 10.0
_NOTES = (
    "End-to-end latency is the difference of two clocks in whole milliseconds, and what comes out at or "
    "below zero is dropped: low figures are too high.",
    "Messages are not checked for loss, duplicates or order.",
)
MARK = "aggregatedPublishLatencyAvg"


def read_omb_result(text: str) -> list[ToolCase]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise NotThisFormat(f"OpenMessaging Benchmark: is not valid JSON, or is cut off: {error}") from None
    if not isinstance(content, dict) or MARK not in content:
        raise NotThisFormat(f"OpenMessaging Benchmark: a result has a field {MARK}, this file has none")
    latencies = [found for name in _LATENCIES if (found := _latency(content, name)) is not None]
    consumed = _numbers(content, "consumeRate")
    published = _numbers(content, "publishRate")
    rates = consumed if any(consumed) else published
    rate = sum(rates) / len(rates) if rates else None
    size = optional_number(content.get("messageSize"), "messageSize")
    settings: dict[str, Scalar] = {
        ours: content[theirs]
        for theirs, ours in _SETTINGS.items()
        if isinstance(content.get(theirs), (str, int, float))
    }
    failed = _numbers(content, "publishErrorRate")
    return [
        ToolCase(
            "openmessaging-benchmark",
            latencies,
            rate_per_s=rate,
            bytes_per_s=None if rate is None or size is None else rate * size,
            # A rate for each interval; what it comes to is only known where there was none.
            failed_count=0 if failed and not any(failed) else None,
            settings=settings,
            intervals=list(_intervals(content, rates)),
            version=content["version"] if isinstance(content.get("version"), str) else None,
            notes=_NOTES,
        )
    ]


def _latency(content: Mapping[str, Any], name: str) -> ToolLatency | None:
    leg, per_ms = _LATENCIES[name]
    mean = optional_number(content.get(f"aggregated{name}Avg"), f"aggregated{name}Avg")
    quantiles = content.get(f"aggregated{name}Quantiles") or {}
    if mean is None or (not quantiles and not mean):
        return None
    if not isinstance(quantiles, Mapping):
        raise NotThisFormat(f"aggregated{name}Quantiles: must be a mapping of percentiles")
    percentiles = {
        percentile_name(percent): value / per_ms
        for digits, percent in _PERCENTS.items()
        if (field := f"aggregated{name}{digits}pct") in content
        and (value := optional_number(content[field], field)) is not None
    }
    curve = sorted(
        (number(percent, f"aggregated{name}Quantiles") / 100, number(value, str(percent)) / per_ms)
        for percent, value in quantiles.items()
    )
    largest = optional_number(content.get(f"aggregated{name}Max"), f"aggregated{name}Max")
    return ToolLatency(
        leg,
        mean=mean / per_ms,
        max=None if largest is None else largest / per_ms,
        percentiles=percentiles,
        curve=curve,
    )


def _numbers(content: Mapping[str, Any], name: str) -> list[float]:
    found = content.get(name) or []
    if not isinstance(found, list):
        raise NotThisFormat(f"{name}: must be a list of figures, one for each interval")
    return [number(each, name) for each in found]


def _intervals(content: Mapping[str, Any], rates: Sequence[float]) -> Iterator[ToolInterval]:
    name = "endToEndLatency" if any(_numbers(content, "endToEndLatencyAvg")) else "publishLatency"
    means, tails, largest = (_numbers(content, f"{name}{what}") for what in ("Avg", "99pct", "Max"))
    for place, rate in enumerate(rates):
        mean, tail, most = (each[place] if place < len(each) else None for each in (means, tails, largest))
        yield ToolInterval(place * _INTERVAL_S, rate, mean, tail, most)
