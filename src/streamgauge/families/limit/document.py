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
    TIME = "time"


class Trial(Part):
    case: str
    holds: bool
    missed: list[str]
    """objectives that it missed, as the search noted them"""


class Step(Part):
    rate_per_s: float
    holds: bool | None
    """null: trials do not agree yet"""
    trials: list[Trial]


class LimitBottleneck(Bottleneck):
    case: str | None = None
    """whose figures say so"""


class LimitFound(Part):
    slo: list[str]
    """the objectives, as in p99<20ms"""
    held_per_s: float | None
    """the highest rate that holds them, below all that do not"""
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
    held = [
        by_case[t.case] for s in found.steps if s.holds for t in s.trials if t.holds and t.case in by_case
    ]
    part = LimitFound(
        slo=[str(objective) for objective in search.slo],
        held_per_s=found.held_per_s,
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
    document.objectives = Outcome.MISSED if asked and found.steps and found.held_per_s is None else asked
    return document


def _step(step: RateStep) -> Step:
    trials = [Trial(case=trial.case, holds=trial.holds, missed=trial.missed) for trial in step.trials]
    return Step(rate_per_s=step.rate_per_s, holds=step.holds, trials=trials)


def _bottleneck(found: RateSearch, by_case: dict[str, Case]) -> LimitBottleneck:
    """Of the lowest rate that does not hold, in whose trials something was at its end."""
    broken = sorted((s for s in found.steps if s.holds is False), key=lambda step: step.rate_per_s)
    if not broken:
        return LimitBottleneck(cause=cause(CauseCode.NO_STEP_MISSED))
    for step in broken:
        cases = [by_case[t.case] for t in step.trials if not t.holds and t.case in by_case]
        limits = [case for case in cases if case.bottleneck.limit not in (None, Limit.NONE)]
        if limits:
            named, _ = Counter(case.bottleneck.limit for case in limits).most_common(1)[0]
            case = next(case for case in limits if case.bottleneck.limit == named)
            return LimitBottleneck(limit=named, cause=case.bottleneck.cause, case=case.case)
    trial = next(trial for trial in broken[0].trials if not trial.holds)
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
