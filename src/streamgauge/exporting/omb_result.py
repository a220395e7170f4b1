"""A case in the form of an OpenMessaging Benchmark result, for whoever has tools for these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.core.percentiles import percentile_ms
from streamgauge.core.run_dir import RunDir
from streamgauge.exporting.omb_percentiles import window_percentiles
from streamgauge.report.case_document import SCHEDULE_LAG, BriefStatistics, Case, Second, Statistics
from streamgauge.report.document import Document
from streamgauge.report.result_tables import Row

_DIGITS = {"50": 0.5, "75": 0.75, "95": 0.95, "99": 0.99, "999": 0.999, "9999": 0.9999}
_LEGS = {
    "EndToEndLatency": ("intended_to_received", 1.0),
    "PublishLatency": ("sent_to_acked", 1.0),
    "PublishDelayLatency": (SCHEDULE_LAG, 1000.0),
}
"""Theirs → our leg, and how much of theirs is a ms. Our end-to-end latency begins when a message was due."""
_WINDOW_S = 10
_QUANTILES = (0.0, *(1 - 10.0 ** -(n / 8) for n in range(1, 41)), 1.0)


@dataclass(frozen=True)
class _Window:
    begin: int
    lasted_s: int
    seconds: Sequence[Second]
    """A second in which nothing was sent has none."""


def omb_result_text(run: RunDir, document: Document, case: Case, histogram: Sequence[Row]) -> str:
    size = case.parameters.message_size
    found: dict[str, Any] = {
        "workload": document.name,
        "driver": case.driver,
        "messageSize": size if isinstance(size, int) else None,
        "topics": len(case.parameters.topics),
        "partitions": case.parameters.partitions,
        "producersPerTopic": _per_topic(case.parameters.producers, case),
        "consumersPerTopic": _per_topic(case.parameters.consumers, case),
        "version": f"streamgauge {document.environment.get('versions', {}).get('streamgauge', '')}".strip(),
    }
    return json.dumps({**found, **_windows(run, case), **_aggregated(case, histogram)}, indent=1) + "\n"


def _per_topic(count: int, case: Case) -> int | None:
    """Ours are of all topics together; None: no whole number of them has a topic."""
    each, left = divmod(count, max(1, len(case.parameters.topics)))
    return None if left else each


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


def _windows(run: RunDir, case: Case) -> dict[str, list[float]]:
    """Ten seconds each, as theirs are, of the measured phase alone."""
    measured = [second for second in case.seconds if _is_measured(second)]
    whole = _whole(measured, case.warm_up is not None)
    windows = _parted(whole or measured)
    return {
        "publishRate": _rates(windows, "sent") if whole else [case.throughput.sent_messages_per_s or 0.0],
        "publishErrorRate": _failures(measured, windows),
        "consumeRate": _rates(windows, "received")
        if whole
        else [case.throughput.received_messages_per_s or 0.0],
        **{
            f"{_by_window(theirs)}{what}": [of(window, leg) * per_ms for window in windows]
            for theirs, (leg, per_ms) in _LEGS.items()
            for what, of in (("Avg", _mean), ("Max", _max))
        },
        **_percentiles(run, case, windows),
    }


def _by_window(theirs: str) -> str:
    return theirs[:1].lower() + theirs[1:]


def _percentiles(run: RunDir, case: Case, windows: Sequence[_Window]) -> dict[str, list[float]]:
    """Of messages that were rolled up the slowest are left: no percentiles can be had of these."""
    if not windows or (case.verification is not None and case.verification.rolled_up):
        return {}
    legs = {leg: (theirs, per_ms) for theirs, (leg, per_ms) in _LEGS.items() if case.legs[leg].count}
    end = windows[-1].begin + windows[-1].lasted_s
    told = window_percentiles(
        run, case.case, [window.begin for window in windows], end, list(legs), list(_DIGITS.values())
    )
    return {
        f"{_by_window(legs[leg][0])}{digits}pct": [max(0.0, each[place]) * legs[leg][1] for each in found]
        for leg, found in told.items()
        for place, digits in enumerate(_DIGITS)
    }


def _is_measured(second: Second) -> bool:
    found = second.accounting
    return bool(found.sent or found.failed or found.received)


def _whole(measured: Sequence[Second], has_warm_up: bool) -> Sequence[Second]:
    """Without the seconds in which the measured phase began and ended: they are parts of a second."""
    return measured[int(has_warm_up) : -1]


def _parted(seconds: Sequence[Second]) -> list[_Window]:
    """What is left at the end is a window of its own if it is half of one: theirs all count alike."""
    if not seconds:
        return []
    first, last = seconds[0].second, seconds[-1].second
    count = max(1, round((last + 1 - first) / _WINDOW_S))
    begins = [first + place * _WINDOW_S for place in range(count)]
    ends = [*begins[1:], last + 1]
    return [
        _Window(begin, end - begin, [second for second in seconds if begin <= second.second < end])
        for begin, end in zip(begins, ends, strict=True)
    ]


def _rates(windows: Sequence[_Window], count: str) -> list[float]:
    return [
        sum(getattr(second.accounting, count) for second in window.seconds) / window.lasted_s
        for window in windows
    ]


def _failures(measured: Sequence[Second], windows: Sequence[_Window]) -> list[float]:
    """None is left out: what failed at either end counts for the window beside it."""
    if not windows:
        return []
    rates = _rates(windows, "failed")
    inside = {second.second for window in windows for second in window.seconds}
    for second in measured:
        if second.second not in inside:
            beside = 0 if second.second < min(inside) else -1
            rates[beside] += second.accounting.failed / windows[beside].lasted_s
    return rates


def _mean(window: _Window, leg: str) -> float:
    """Of all messages of the window: not a mean of means."""
    found = [_latency_of(second, leg) for second in window.seconds]
    counts = sum(each.count for each in found)
    total = sum(each.count * (each.mean or 0.0) for each in found)
    return float(max(0.0, total / counts)) if counts else 0.0


def _max(window: _Window, leg: str) -> float:
    return max(0.0, *(_latency_of(second, leg).max or 0.0 for second in window.seconds))


def _latency_of(second: Second, leg: str) -> BriefStatistics:
    if leg == SCHEDULE_LAG:
        return second.schedule_lag_ms
    found: BriefStatistics = getattr(second.latency_ms, leg)
    return found
