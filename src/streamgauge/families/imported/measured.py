"""An imported run beside others: its figures, of which no run tells how sure they are."""

from __future__ import annotations

from functools import partial

from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import Measured, Told
from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.families.imported.document import ImportedDocument, ToolCase, figure_of
from streamgauge.spec.metrics import RATE, Metric, duration, percentile


def measured_cases(document: ImportedDocument) -> list[Measured]:
    return [
        Measured(
            document.run,
            case.case,
            _settings(case),
            case.integrity.verdict,
            case.validity,
            _metrics(case),
            partial(_estimate, case),
        )
        for case in document.cases
    ]


def _settings(case: ToolCase) -> dict[str, object]:
    latency = case.main_latency
    leg = "none" if latency is None else latency.leg
    return {"tool": case.tool, "version": case.version, "latency": leg, **case.settings}


def _metrics(case: ToolCase) -> list[Metric]:
    found: list[Metric] = []
    if case.main_latency is not None:
        named = [percentile(name) for name in case.main_latency.percentiles]
        found = [metric for metric in named if metric is not None]
        found += [duration("mean")] if case.main_latency.mean is not None else []
    return found + ([RATE] if case.rate_per_s is not None else [])


def _estimate(case: ToolCase, metric: Metric) -> Told:
    latency = case.main_latency
    value = (
        case.rate_per_s if metric == RATE else None if latency is None else figure_of(latency, metric.name)
    )
    if value is None:
        return cause(CauseCode.NOTHING_MEASURED)
    return Estimate(value) if value > 0 else cause(CauseCode.NOT_ABOVE_ZERO)
