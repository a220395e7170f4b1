"""The document of a search for the limit: what holds, what does not, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from streamgauge.core.outcomes import Outcome, worst_outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.core.verdicts import CauseCode, Limit, cause
from streamgauge.families.limit.rate_search import RateSearch, RateStep
from streamgauge.families.limit.search_file import read_search, state_of
from streamgauge.families.limit.section import Search
from streamgauge.plan.plan_file import Plan
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.case_reading import cases_of
from streamgauge.report.document import Bottleneck, Part, Verdicts, head_of
from streamgauge.report.result_tables import ResultTables


class Ending(StrEnum):
    FOUND = "found"
    ALL_HELD = "all held"
    NONE_HELD = "none held"
    NOT_DECIDABLE = "not decidable"
    TIME = "time"


class Trial(Part):
    case: str
    outcome: Outcome
    holds: bool
    """whether that is met"""
    missed: list[str]
    """objectives that it missed, as the search noted them"""
    doubts: list[str]
    """why it is not decidable"""


class Step(Part):
    rate_per_s: float
    outcome: Outcome | None
    """null: trials do not agree yet"""
    holds: bool | None
    """whether that is met; null: not settled, or not decidable"""
    trials: list[Trial]


class LimitBottleneck(Bottleneck):
    case: str | None = None
    """whose figures say so"""


class LimitFound(Part):
    slo: list[str]
    """the objectives, as in p99<20ms"""
    held_per_s: float | None
    """the highest rate that holds them, below all that do not or are not decidable"""
    undecided_per_s: float | None
    """the lowest rate that is not decidable, if it lies below all that do not hold them"""
    broken_per_s: float | None
    """the lowest rate that does not"""
    within_percent: float
    ending: Ending | None
    """null: the search was cut off"""
    took_s: float
    """all trials together"""
    bottleneck: LimitBottleneck
    steps: list[Step]
    """by rate"""


class LimitDocument(CasesDocument):
    limit: LimitFound
    """what the search found"""

    @property
    def parts(self) -> Mapping[str, Verdicts]:
        """Cases beyond the limit are there to break: objectives are those of what holds."""
        steps = [step for step in self.limit.steps if step.holds]
        held = [f"case {trial.case}" for step in steps for trial in step.trials if trial.holds]
        return {name: case for name, case in super().parts.items() if name in held or not held}


def limit_document(run: RunDir, plan: Plan, tables: ResultTables) -> LimitDocument:
    search = plan.section_as(Search)
    record = read_search(run)
    found = state_of(plan, record)
    cases = cases_of(plan, read_status(run), tables, by_figures_alone=True)
    by_case = {case.case: case for case in cases}
    # Cases of a search beyond the limit are there to break: the run is as good as what holds.
    deciding = [trial for step in found.steps if step.holds for trial in step.trials]
    held = [by_case[t.case] for t in deciding if t.outcome is Outcome.MET and t.case in by_case]
    part = LimitFound(
        slo=[str(objective) for objective in search.slo],
        held_per_s=found.held_per_s,
        undecided_per_s=found.undecided_per_s,
        broken_per_s=found.broken_per_s,
        within_percent=search.within_percent,
        ending=None if record.ended is None else Ending(record.ended),
        took_s=round(sum(trial.took_s for trial in record.trials), 3),
        bottleneck=_bottleneck(found, by_case),
        steps=[_step(step) for step in sorted(found.steps, key=lambda step: step.rate_per_s)],
    )
    head: dict[str, Any] = head_of(run, plan, by_case, counted=held or cases)
    document = LimitDocument(**head, cases=cases, limit=part)
    asked = worst_outcome(case.outcome for case in document.parts.values() if case.outcome)
    is_without = asked and found.steps and found.held_per_s is None
    document.objectives = _without_a_rate(found) if is_without else asked
    return document


def _without_a_rate(found: RateSearch) -> Outcome:
    """What is to be said of objectives when there is no rate that is known to hold them."""
    is_undecided = found.broken_per_s is None and found.undecided_per_s is not None
    return Outcome.NOT_DECIDABLE if is_undecided else Outcome.MISSED


def _step(step: RateStep) -> Step:
    trials = [
        Trial(
            case=trial.case,
            outcome=trial.outcome,
            holds=trial.outcome is Outcome.MET,
            missed=trial.missed,
            doubts=trial.doubts,
        )
        for trial in step.trials
    ]
    holds = {Outcome.MET: True, Outcome.MISSED: False}.get(step.outcome) if step.outcome else None
    return Step(rate_per_s=step.rate_per_s, outcome=step.outcome, holds=holds, trials=trials)


def _bottleneck(found: RateSearch, by_case: dict[str, Case]) -> LimitBottleneck:
    """Of the lowest rate that does not hold, in whose trials something was at its end."""
    missed = (step for step in found.steps if step.outcome is Outcome.MISSED)
    broken = sorted(missed, key=lambda step: step.rate_per_s)
    if not broken:
        return LimitBottleneck(cause=cause(CauseCode.NO_STEP_MISSED))
    for step in broken:
        cases = [by_case[t.case] for t in step.trials if t.outcome is Outcome.MISSED and t.case in by_case]
        limits = [case for case in cases if case.bottleneck.limit not in (None, Limit.NONE)]
        if limits:
            named, _ = Counter(case.bottleneck.limit for case in limits).most_common(1)[0]
            case = next(case for case in limits if case.bottleneck.limit == named)
            return LimitBottleneck(limit=named, cause=case.bottleneck.cause, case=case.case)
    trial = next(trial for trial in broken[0].trials if trial.outcome is Outcome.MISSED)
    return _by_exclusion(by_case.get(trial.case), trial.case)


def _by_exclusion(case: Case | None, case_id: str) -> LimitBottleneck:
    """Nothing was busy and the schedule was held: then messages waited behind the producer."""
    if case is None or not case.latency_ms.sent_to_received.count:
        return LimitBottleneck(cause=cause(CauseCode.STEP_NOT_KNOWN), case=case_id)
    acked, received = case.latency_ms.sent_to_acked.p99, case.latency_ms.sent_to_received.p99
    behind_ack = acked is not None and received is not None and 2 * acked <= received
    why = cause(
        CauseCode.WAITED_BEHIND_ACK if behind_ack else CauseCode.WAITED_BEHIND_PRODUCER,
        acked_p99_ms=acked,
        received_p99_ms=received,
        lag_p99_ms=case.schedule_lag_ms.p99,
    )
    return LimitBottleneck(limit=Limit.BROKER, cause=why, case=case_id)
