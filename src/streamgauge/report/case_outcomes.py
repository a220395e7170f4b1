"""The figures of a case of messages that objectives are on."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.core.outcomes import ObjectiveOutcome
from streamgauge.core.percentiles import percentile_ms
from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.report.case_document import Case, Statistics
from streamgauge.report.outcomes import Known, outcomes_of
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.words import checked_of, without_outcome_of
from streamgauge.spec.metrics import RATE, BoundUnit, Metric
from streamgauge.spec.objective import Objective
from streamgauge.tables.faults import not_arrived_count
from streamgauge.tables.results import HISTOGRAM, PERCENTILES


def case_outcomes(
    case: Case, objectives: Sequence[Objective], tables: ResultTables, *, by_figures_alone: bool
) -> list[ObjectiveOutcome]:
    def known(objective: Objective) -> Known:
        if objective.unit is BoundUnit.MS:
            return _latency(case, objective.metric, tables)
        if objective.metric == RATE:
            return _rate(case, objective.unit)
        return _count(case, objective.metric)

    return outcomes_of(objectives, known, case.validity, by_figures_alone=by_figures_alone)


def _latency(case: Case, metric: Metric, tables: ResultTables) -> Known:
    latency = case.main_latency
    if not latency.count:
        return Known(None)
    if metric.share is None or metric.field in PERCENTILES:
        return Known(getattr(latency, metric.field), message_count=latency.count)
    return Known(_percentile(case, latency, metric.share, tables), message_count=latency.count)


def _percentile(case: Case, latency: Statistics, share: float, tables: ResultTables) -> float:
    """One that reports do not show."""
    rows = tables.rows(HISTOGRAM, case.case, leg=case.main_leg)
    found = percentile_ms(((row["value_ms"], row["count"]) for row in rows), share)
    # The middle of the outermost bucket may lie outside of what was measured.
    return found if latency.max is None else min(found, latency.max)


def _rate(case: Case, unit: BoundUnit) -> Known:
    per_s = case.out_per_s
    if per_s is None or unit is BoundUnit.PER_S:
        return Known(per_s)
    wanted = case.parameters.constant_rate
    if wanted is None:
        return Known(None, why_not=cause(CauseCode.NO_ONE_RATE))
    return Known(100 * per_s / wanted)


def _count(case: Case, metric: Metric) -> Known:
    if not case.is_measured:
        return Known(None)
    counts = case.accounting
    if metric.name == "lost":
        return _lost(case)
    if metric.name not in checked_of(case):
        return Known(None, why_not=cause(CauseCode.NOT_LOOKED_FOR))
    return Known(getattr(counts, metric.name))


def _lost(case: Case) -> Known:
    """Of messages of which nothing was heard again nobody can say: from none of them to all."""
    counts = case.accounting
    if not case.parameters.consumers:
        return Known(None, why_not=cause(CauseCode.NOT_LOOKED_FOR))
    lost = counts.lost_write + counts.unseen
    not_arrived = not_arrived_count(
        counts.model_dump(), has_consumers=True, has_completions=case.parameters.completions
    )
    silent = 0 if not_arrived else without_outcome_of(case)
    lost += not_arrived
    return Known(lost, interval=(lost, lost + silent) if silent else None)
