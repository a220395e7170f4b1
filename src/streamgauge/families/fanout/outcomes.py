"""The figures of a point that objectives may be set on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamgauge.core.percentiles import percentiles_of
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS
from streamgauge.report.outcomes import Known
from streamgauge.report.result_tables import ResultTables
from streamgauge.spec.metrics import AT_LEAST, VALID, BoundUnit, Metric, Metrics, count, duration, flag
from streamgauge.spec.objective import Objective
from streamgauge.tables.results import PERCENTILES

_HOLDS = flag("holds")
"""All was delivered, and the mean is within the limit."""
_RATE = Metric("rate", (BoundUnit.PER_S,), AT_LEAST)
_COUNTS = {"lost": "missing", "duplicate": "duplicate", "unexpected": "unexpected"}
"""Metric → what the accounting calls it: updates of all clients together."""

METRICS = Metrics(
    (
        duration("mean"),
        duration("max"),
        count("lost", "missing"),
        count("duplicate", "duplicates"),
        count("unexpected"),
        _RATE,
        _HOLDS,
        VALID,
    )
)


def known_of(point: Mapping[str, Any], tables: ResultTables, objective: Objective) -> Known:
    """`point`: the content of a `Point`."""
    metric = objective.metric
    if metric == _HOLDS:
        return Known(None if point["holds"] is None else float(point["holds"]))
    if metric == _RATE:
        return Known(point["rate_per_s"])
    if metric.name in _COUNTS:
        # Of a point that did not run there is nothing to count.
        is_known = point["accounting"]["messages"] > 0
        return Known(point["accounting"][_COUNTS[metric.name]] if is_known else None)
    return _latency(point, tables, metric)


def _latency(point: Mapping[str, Any], tables: ResultTables, metric: Metric) -> Known:
    samples = point["samples"]
    if not samples:
        return Known(None)
    if metric.share is None or metric.field in PERCENTILES:
        return Known(point["latency_ms"][metric.field], message_count=samples)
    # Samples are kept by whole milliseconds, rounded down: the percentile lies within one.
    counts = {row["latency_ms"]: row["count"] for row in tables.rows(LATENCY_COUNTS, point["case"])}
    [low] = percentiles_of(counts, [metric.share])
    return Known(low, interval=(low, low + 1), message_count=samples)
