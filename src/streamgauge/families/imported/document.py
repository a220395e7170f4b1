"""The results of an imported run: what the tools said, and that nobody knows how far to believe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from streamgauge.core.outcomes import ObjectiveOutcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import CauseCode, Integrity, Validity, cause
from streamgauge.families.imported.tables import (
    FIGURES,
    INTERVALS,
    LATENCIES,
    NOTES,
    PERCENTILES,
)
from streamgauge.families.imported.workload import ImportedWork
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import Plan
from streamgauge.report.document import (
    CaseVerdicts,
    Document,
    Glance,
    IntegrityVerdict,
    Part,
    State,
    ValidityVerdict,
    Verdicts,
    by_case,
    head_of,
)
from streamgauge.report.outcomes import Known, outcomes_of
from streamgauge.report.plotted import PlottedCase
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.report.settings_text import by_path
from streamgauge.spec.metrics import RATE, BoundUnit
from streamgauge.spec.objective import Objective


class ToolLatency(Part):
    """As the tool gave it, in ms."""

    leg: str
    """from when to when, in the tool's own terms"""
    count: int | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    percentiles: dict[str, float] = Field(default_factory=dict)
    """p50, p99.9 …: as many as it gave"""


class ToolInterval(Part):
    """What the tool said while it went on."""

    second: float
    rate_per_s: float | None = None
    mean_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None


class ToolCase(CaseVerdicts):
    tool: str
    version: str | None = None
    """null: not told"""
    file: str
    format: str
    settings: dict[str, Any]
    """those that the file tells of"""
    latency_ms: list[ToolLatency]
    """the one that speaks for the case first"""
    rate_per_s: float | None = None
    bytes_per_s: float | None = None
    message_count: int | None = None
    failed_count: int | None = None
    intervals: list[ToolInterval] = Field(default_factory=list)

    @property
    def main_latency(self) -> ToolLatency | None:
        return self.latency_ms[0] if self.latency_ms else None


class ImportedDocument(Document):
    cases: list[ToolCase] = Field(default_factory=list)

    @property
    def parts(self) -> Mapping[str, Verdicts]:
        return by_case(self.cases)

    @property
    def glances(self) -> Sequence[Glance]:
        return [
            Glance(
                case.rate_per_s,
                None if case.main_latency is None else case.main_latency.percentiles.get("p50"),
                None if case.main_latency is None else case.main_latency.percentiles.get("p99"),
                None if case.main_latency is None else case.main_latency.count,
            )
            for case in self.cases
        ]

    @property
    def plotted(self) -> Sequence[PlottedCase]:
        return [_plotted(case) for case in self.cases]


def _plotted(case: ToolCase) -> PlottedCase:
    """Every setting that a file tells of is a knob."""
    latency = case.main_latency
    return PlottedCase(
        case.case,
        case.tool,
        # As the knobs of a sweep are called, so that both can be in one plot.
        {name.replace(".", "-"): value for name, value in by_path(case.settings, ".").items()},
        message_count=None if latency is None else latency.count,
        min_ms=None if latency is None else latency.min,
        mean_ms=None if latency is None else latency.mean,
        max_ms=None if latency is None else latency.max,
        kib=(case.bytes_per_s or 0.0) / 1024,
        messages=case.rate_per_s or 0.0,
        lasted_s=0.0 if case.rate_per_s is None else 1.0,
        other_leg="no latency" if latency is None else latency.leg,
    )


def imported_document(run: RunDir, plan: Plan, tables: ResultTables) -> ImportedDocument:
    cases = [_case(case, plan.objectives, tables) for case in plan.cases]
    return ImportedDocument(**head_of(run, plan, {case.case: case for case in cases}), cases=cases)


def _case(case: Case, objectives: Sequence[Objective], tables: ResultTables) -> ToolCase:
    work = as_work(case.work, ImportedWork)
    [figures] = tables.rows(FIGURES, case.id)
    found = ToolCase(
        case=case.id,
        status=State.OK,
        # Another tool's word: never green, whatever it says of itself.
        integrity=IntegrityVerdict(verdict=Integrity.NOT_CHECKED),
        validity=ValidityVerdict(
            verdict=Validity.NOT_MEASURED, causes=[cause(CauseCode.OTHER_TOOL, work.tool)]
        ),
        notes=[cause(CauseCode.RECORDED, row["text"]) for row in _in_order(tables.rows(NOTES, case.id))],
        tool=work.tool,
        version=work.version,
        file=work.file,
        format=work.format,
        settings=dict(work.settings),
        latency_ms=_latencies(case.id, tables),
        intervals=[
            ToolInterval(**{name: value for name, value in row.items() if name != "case"})
            for row in tables.rows(INTERVALS, case.id)
        ],
        **{name: value for name, value in figures.items() if name != "case"},
    )
    found.objectives = _outcomes(found, objectives)
    return found


def _in_order(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["place"])


def _latencies(case: str, tables: ResultTables) -> list[ToolLatency]:
    named = tables.rows(PERCENTILES, case)
    return [
        ToolLatency(
            **{name: value for name, value in row.items() if name not in ("case", "place")},
            percentiles={
                each["percentile"]: each["value_ms"] for each in named if each["place"] == row["place"]
            },
        )
        for row in _in_order(tables.rows(LATENCIES, case))
    ]


def _outcomes(case: ToolCase, objectives: Sequence[Objective]) -> list[ObjectiveOutcome]:
    def known(objective: Objective) -> Known:
        metric, latency = objective.metric, case.main_latency
        if objective.unit is BoundUnit.MS:
            return Known(None if latency is None else figure_of(latency, metric.name))
        if metric == RATE:
            if objective.unit is BoundUnit.PER_S:
                return Known(case.rate_per_s)
            return Known(None, why_not=cause(CauseCode.NO_ONE_RATE))
        if metric.name == "failed" and case.failed_count is not None:
            return Known(case.failed_count)
        return Known(None, why_not=cause(CauseCode.NOT_LOOKED_FOR))

    return outcomes_of(objectives, known, case.validity)


def figure_of(latency: ToolLatency, name: str) -> float | None:
    """mean, max, or any percentile that the tool gave; none is made up from its neighbours."""
    if name in ("mean", "max"):
        found: float | None = getattr(latency, name)
        return found
    return latency.percentiles.get(name)
