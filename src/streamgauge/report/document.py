"""What a results document is made of: typed values, no words. Each family has its own, all
begin alike.

The JSON Schema is made from these models (`tools/results_schema.py`), so neither can be without the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.core.outcomes import ObjectiveOutcome, Outcome, worst_outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import RunStatus, read_status
from streamgauge.core.verdicts import Cause, Integrity, Limit, Validity, worst_integrity, worst_validity
from streamgauge.plan.plan_file import Plan
from streamgauge.report.plotted import PlottedCase
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.tables.results import CAUSES


class State(StrEnum):
    """How a run, or a part of it, ended."""

    OK = "ok"
    FAILED = "failed"
    PARTIAL = "partial"
    RUNNING = "running"
    NOT_RUN = "not run"
    NOT_ANALYSED = "not analysed"


class Part(BaseModel):
    """A part of a document: no field more or less than it says."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class IntegrityVerdict(Part):
    """Is every message accounted for?"""

    verdict: Integrity = Integrity.NOT_MEASURED
    """ok, or the worst that became of a message"""
    causes: list[Cause] = Field(default_factory=list)


class ValidityVerdict(Part):
    """May the figures be quoted?"""

    verdict: Validity = Validity.NOT_MEASURED
    causes: list[Cause] = Field(default_factory=list)


class Verdicts(Part):
    """What everything that was measured has: how it ended, and the two verdicts."""

    status: State
    """how it ended"""
    integrity: IntegrityVerdict = Field(default_factory=IntegrityVerdict)
    """is every message accounted for?"""
    validity: ValidityVerdict = Field(default_factory=ValidityVerdict)
    """may the figures be quoted?"""
    objectives: list[ObjectiveOutcome] = Field(default_factory=list)
    """what came of each objective, in the order given"""
    notes: list[Cause] = Field(default_factory=list)
    """what else to know of it"""

    @property
    def outcome(self) -> Outcome | None:
        """The worst of its objectives; None: it has none."""
        return worst_outcome(found.outcome for found in self.objectives)

    @property
    def is_good(self) -> bool:
        """Green only if both verdicts hold, and every objective is met."""
        return (
            self.status is State.OK
            and self.integrity.verdict is Integrity.OK
            and self.validity.verdict is Validity.VALID
            and self.outcome in (None, Outcome.MET)
        )


class CaseVerdicts(Verdicts):
    """Of one case of the plan."""

    case: str
    """id of the case"""


def by_case(cases: Iterable[CaseVerdicts]) -> Mapping[str, Verdicts]:
    """The parts of a document whose parts are its cases."""
    return {f"case {case.case}": case for case in cases}


class Bottleneck(Part):
    limit: Limit | None = None
    """null: not known"""
    cause: Cause | None = None
    """why, with the figures that say so"""


class Claim(Part):
    """One thing that a run says, with its interval."""

    code: str
    """what is claimed, one of its family's own"""
    value: float
    low: float | None = None
    high: float | None = None
    """its interval; null: nothing tells, or it is open"""
    about: dict[str, str | float | bool | None] = Field(default_factory=dict)
    """of what, by name, with units"""


class Answer(Part):
    """To the question that a run of its family is made for."""

    claims: list[Claim] = Field(default_factory=list)
    """the first says most; empty: nothing may be said"""
    causes: list[Cause] = Field(default_factory=list)
    """why nothing may be said, or what was left out"""
    excluded_count: int = 0
    """parts of the run whose figures may not be quoted, and are not in the claims"""


@dataclass(frozen=True)
class Glance:
    """The few figures of a part by which a run is told from others in a list; None: it has none such."""

    rate_per_s: float | None
    p50_ms: float | None
    p99_ms: float | None
    message_count: int | None = None
    """Behind these percentiles; None: not known."""


class Document(Part):
    """The head of every document."""

    run: str
    """id of the run"""
    name: str
    """name of the workload"""
    kind: str
    """which family's document it is"""
    status: State
    """a run that came to its end well is only as good as its worst case"""
    reason: str | None = None
    """what the run itself noted of how it ended"""
    marked: list[str] = Field(default_factory=list)
    """what makes the status worse than the run's own: ids of cases, or places of a comparison"""
    integrity: Integrity
    """the worst of all cases"""
    validity: Validity
    """invalid: figures of at least one case are not to be quoted"""
    objectives: Outcome | None = None
    """the worst of all cases; null: there are no objectives"""
    answer: Answer | None = None
    """to what the run was made to find out; null: its family has none, or nobody asked"""
    environment: dict[str, Any]
    """environment.json as it is"""
    stages_s: dict[str, float] = Field(default_factory=dict)
    """seconds of each stage, but for writing the report itself"""

    row_field: ClassVar[str] = "cases"
    """The field whose items are rows of `results --csv`."""

    @property
    def parts(self) -> Mapping[str, Verdicts]:
        """All that has verdicts, by name."""
        return {}

    @property
    def glances(self) -> Sequence[Glance]:
        """One for each part of which there is a latency."""
        return ()

    @property
    def plotted(self) -> Sequence[PlottedCase]:
        """What `streamgauge plot` draws; none where a family has plots of its own."""
        return ()

    @property
    def is_good(self) -> bool:
        return (
            self.status is State.OK
            and self.integrity is Integrity.OK
            and self.validity is Validity.VALID
            and self.objectives in (None, Outcome.MET)
        )


def head_of(
    run: RunDir,
    plan: Plan,
    judged: Mapping[str, Verdicts],
    counted: Iterable[Verdicts] | None = None,
) -> dict[str, Any]:
    """The fields of a document's head. `judged`: all that has verdicts, by name; `counted`: of these, whose
    verdicts are the run's, when not all are."""
    status, marked = _run_status(read_status(run), judged if counted is None else {})
    own = read_status(run)
    verdicts = list(judged.values() if counted is None else counted)
    return {
        "run": plan.run,
        "name": plan.name,
        "kind": plan.kind,
        "status": status,
        "reason": own.reason,
        "marked": marked,
        "integrity": worst_integrity(found.integrity.verdict for found in verdicts),
        "validity": worst_validity(found.validity.verdict for found in verdicts),
        # An objective is set on every case, also where some are there to break.
        "objectives": worst_outcome(found.outcome for found in judged.values() if found.outcome),
        "stages_s": own.stages_s,
        "environment": strict(run.read_json(run.environment)) if run.has(run.environment) else {},
    }


def _run_status(status: RunStatus, judged: Mapping[str, Verdicts]) -> tuple[State, list[str]]:
    if status.status == "ok":
        for bad in (State.FAILED, State.PARTIAL):
            marked = [name for name, found in judged.items() if found.status is bad]
            if marked:
                return bad, marked
    return State(status.status), []


def causes_of(tables: ResultTables, case: str, verdict: str, subject: str = "") -> list[Cause]:
    """As analysis wrote them, in their order."""
    found: dict[int, dict[str, Any]] = {}
    for row in tables.rows(CAUSES, case, verdict=verdict, subject=subject):
        about = found.setdefault(
            row["place"], {"code": row["code"], "about": row["about"], "text": row["text"], "figures": {}}
        )
        if row["figure"] is not None:
            about["figures"][row["figure"]] = _figure(row["figure"], row["value"])
    return [Cause.model_validate(found[place]) for place in sorted(found)]


def judged_of(tables: ResultTables, row: Row, subject: str = "") -> dict[str, Any]:
    """The two verdicts and the notes of a row that analysis judged."""
    case = row["case"]
    return {
        "integrity": IntegrityVerdict(
            verdict=Integrity(row["integrity"]), causes=causes_of(tables, case, "integrity", subject)
        ),
        "validity": ValidityVerdict(
            verdict=Validity(row["validity"]), causes=causes_of(tables, case, "validity", subject)
        ),
        "notes": causes_of(tables, case, "note", subject),
    }


def _figure(name: str, value: float) -> float | int:
    return int(value) if name.endswith("_count") else value


def document_text(document: Document) -> str:
    return document.model_dump_json(indent=1, by_alias=True) + "\n"


def strict(value: Any) -> Any:
    """JSON has no NaN and no infinity: they are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return value
