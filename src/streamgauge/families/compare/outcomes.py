"""The figures of a comparison that objectives may be set on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.report.outcomes import Known
from streamgauge.spec.metrics import AT_LEAST, BELOW, VALID, BoundUnit, Metric, Metrics, count, duration
from streamgauge.spec.objective import Objective

_US_PER_MS = 1000.0
_RATIO = Metric("ratio", (BoundUnit.PERCENT,), (*BELOW, *AT_LEAST), is_quoted=True)
"""A over B in %, the median of the pairs; it comes with an interval."""
_TIMES = tuple(duration(f"{side}_{name}") for side in "ab" for name in ("median", "mean", "max"))
"""Of one repetition: all messages of a cell."""
_COUNTS = {"lost": "missing", "duplicate": "duplicate", "corrupt": "corrupt", "failed": "failed"}
"""Metric → what the accounting calls it."""

METRICS = Metrics(
    (
        _RATIO,
        *_TIMES,
        count("lost", "missing"),
        count("duplicate", "duplicates"),
        count("corrupt", "corrupted"),
        count("failed", "errors"),
        VALID,
    ),
    has_percentiles=False,
)


def known_of(row: Mapping[str, Any], objective: Objective) -> Known:
    """`row`: the content of a `Compared`."""
    metric = objective.metric
    if metric == _RATIO:
        interval = row["interval_percent"]
        return Known(row["ratio_percent"]["median"], interval=None if interval is None else tuple(interval))
    if metric in _TIMES:
        side, name = metric.name.split("_")
        time_us = row[side][f"{name}_us"]
        return Known(None if time_us is None else time_us / _US_PER_MS)
    found = row["accounting"][_COUNTS[metric.name]]
    return Known(found, why_not=cause(CauseCode.VALUES_NOT_CHECKED))
