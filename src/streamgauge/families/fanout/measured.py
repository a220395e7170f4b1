"""The points of a fan-out, to be set beside those of another run.

Updates of one message are no samples of their own, and percentiles of seconds are none of the run: one run
does not tell how sure a figure is, so a verdict takes repeats of both sides.
"""

from __future__ import annotations

from functools import partial

from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import Measured, Told
from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.families.fanout.document import FanoutDocument, Point
from streamgauge.families.fanout.point_names import place_name
from streamgauge.spec.metrics import Metric, duration, percentile

_SETTINGS = {"series", "via", "scenario", "clients", "max_frequency"}


def measured_points(document: FanoutDocument) -> list[Measured]:
    found = document.fanout
    shared = {"size": found.size_bytes, "duration": found.duration_s, "warm_up": found.warm_up_s}
    return [
        Measured(
            document.run,
            place_name(point),
            {
                **point.model_dump(
                    mode="json", include={"series", "via", "scenario", "clients", "max_frequency"}
                ),
                **shared,
            },
            point.integrity.verdict,
            point.validity,
            _metrics(),
            partial(_estimate, point),
        )
        for point in found.points
    ]


def _metrics() -> list[Metric]:
    percentiles = (percentile(name) for name in ("p50", "p99"))
    return [duration("mean"), *(found for found in percentiles if found is not None)]


def _estimate(point: Point, metric: Metric) -> Told:
    value = getattr(point.latency_ms, metric.field, None) if point.samples else None
    return Estimate(value) if value else cause(CauseCode.NOTHING_MEASURED)
