"""The results of a sweep: every case, and what each knob costs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.families.sweep.effects import interplays, main_effects
from streamgauge.plan.plan_file import Plan
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.case_reading import cases_of
from streamgauge.report.document import Part, State, head_of
from streamgauge.report.result_tables import ResultTables

KnobValue = bool | int | float | str | None
Response = Literal["p50_ms", "p99_ms", "messages_per_s", "cpu_us_per_message"]


class Effect(Part):
    """How a figure changes with a knob, all else being equal."""

    knob: str
    value: KnobValue
    base: KnobValue
    """the knob's first value, which it is held against"""
    response: Response
    pair_count: int
    """pairs of cases that differ in this knob alone"""
    ratio: float
    """geometric mean over these pairs"""
    low: float | None
    high: float | None
    """95% interval; null: a single pair has none"""


class Interaction(Part):
    """Where the effect of one knob depends on another."""

    knob: str
    value: KnobValue
    base: KnobValue
    response: Response
    other_knob: str
    least_at: KnobValue
    least_ratio: float
    most_at: KnobValue
    most_ratio: float
    is_certain: bool
    """the intervals of both are apart; false: more rounds would have to show it"""


class SweepDocument(CasesDocument):
    effects: list[Effect] = Field(default_factory=list)
    interactions: list[Interaction] = Field(default_factory=list)


def sweep_document(run: RunDir, plan: Plan, tables: ResultTables) -> SweepDocument:
    cases = cases_of(plan, read_status(run), tables)
    # A case that lost messages or broke off would pass its trouble for the cost of a knob.
    whole = [case for case in cases if case.status is State.OK and case.main_latency.count]
    head = head_of(run, plan, {case.case: case for case in cases})
    return SweepDocument(
        **head,
        cases=cases,
        effects=[Effect(**one._asdict()) for one in main_effects(whole)],
        interactions=[Interaction(**one._asdict()) for one in interplays(whole)],
    )
