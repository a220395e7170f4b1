"""What a difference between runs is made of: typed values, no words, as results are.

The JSON Schema is made from these models (`tools/results_schema.py`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from streamgauge.core.verdicts import Cause, Integrity, Validity
from streamgauge.report.document import Part


class SpreadSource(StrEnum):
    """Who says what runs of the same are apart by."""

    ASKED = "asked"
    EARLIER_RUNS = "earlier_runs"
    USUAL = "usual"


class DiffVerdict(StrEnum):
    """Of the new against the base."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE_SEEN = "no_difference_seen"
    NOT_COMPARABLE = "not_comparable"


class Changed(Part):
    """Something that was not the same."""

    name: str
    """by path: versions.kafka"""
    base: Any
    """null: it was not there"""
    new: Any


class MetricDifference(Part):
    metric: str
    unit: str
    """of base and new: ms or /s"""
    base: float | None
    """of several repeats their geometric mean"""
    new: float | None
    ratio: float | None
    """new to base"""
    interval: tuple[float, float | None] | None
    """in which the ratio lies; its end may be open; null: nothing tells"""
    p: float | None
    """corrected by Holm over all figures of these runs"""
    verdict: DiffVerdict
    causes: list[Cause] = Field(default_factory=list)
    """why it is not comparable; about: base or new"""


class CaseSide(Part):
    cases: list[str]
    """run/case: several are repeats of each other"""
    integrity: Integrity
    validity: Validity


class CaseDifference(Part):
    settings: dict[str, Any]
    """that tell this case from the others of its runs"""
    base: CaseSide
    new: CaseSide
    metrics: list[MetricDifference]


class RunDifference(Part):
    """One new side against the base."""

    runs: list[str]
    environment: list[Changed]
    settings: list[Changed]
    cases: list[CaseDifference]
    only_base: list[str]
    """cases that the new side has not"""
    only_new: list[str]

    def count(self, verdict: DiffVerdict) -> int:
        return sum(found.verdict is verdict for case in self.cases for found in case.metrics)


class DiffDocument(Part):
    kind: Literal["diff"] = "diff"
    base: list[str]
    """runs"""
    confidence: float
    """of intervals; a verdict has it over all figures of two sides together"""
    between_runs_percent: float
    """what runs of the same are taken to be apart by (SD) where repeats do not say it; of the figure that
    varies most"""
    between_runs_from: SpreadSource
    """who says so"""
    between_runs_count: int = 0
    """earlier runs that it was learned from"""
    differences: list[RunDifference]


class HistoryPoint(Part):
    run: str
    figure: float | None
    interval: tuple[float, float] | None
    """by the run's own blocks"""
    is_quoted: bool
    """false: it is not valid, and no change is looked for in it"""


class Change(Part):
    """From this run on the level is another."""

    run: str
    base: float
    """the level before"""
    new: float
    ratio: float
    p: float
    verdict: DiffVerdict
    environment: list[Changed]
    """between this run and the one before it"""


class MetricHistory(Part):
    metric: str
    unit: str
    points: list[HistoryPoint]
    changes: list[Change]


class CaseHistory(Part):
    settings: dict[str, Any]
    metrics: list[MetricHistory]


class HistoryDocument(Part):
    kind: Literal["history"] = "history"
    name: str
    """of the workload"""
    runs: list[str]
    """oldest first"""
    needed_count: int
    """fewer runs cannot show a change"""
    cases: list[CaseHistory]
