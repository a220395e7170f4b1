"""A search for the limit while it goes on: which case comes next, and what the last one says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus
from streamgauge.families.limit.cases import search_case
from streamgauge.families.limit.rate_search import RateSearch, Trial, judge
from streamgauge.families.limit.search_file import read_search, state_of, write_search
from streamgauge.families.limit.section import Search
from streamgauge.families.limit.step_figures import step_figures
from streamgauge.launch.conduct import Telling
from streamgauge.launch.run_records import RunRecords
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan, write_plan

Look = Callable[[RunDir, Case], dict[str, float | None]]
"""The figures of a case that has just ended."""


class SearchCourse:
    """Adds case after case to the plan; what it knows is in a file, so that it can be resumed."""

    def __init__(self, run: RunDir, plan: Plan, records: RunRecords, look: Look | None = None) -> None:
        self._run, self.plan, self._records = run, plan, records
        self._search = plan.section_as(Search)
        asked = [objective.metric for objective in self._search.slo]
        self._look: Look = look or partial(step_figures, metrics=asked)
        self._known = read_search(run)

    def cases(self, progress: Telling) -> Iterator[Case]:
        """Each is to be run before the next is asked for."""
        self._catch_up(progress)
        while (case := self._next_case()) is not None:
            begun = time.monotonic()
            yield case
            self._judge(case, progress, time.monotonic() - begun)
        state = self._state()
        self._known.ended = state.ending or "time"
        write_search(self._run, self._known)

    def failure(self) -> str | None:
        """Cases beyond the limit are there to break; the search has failed when rates miss and none holds."""
        state = self._state()
        is_failed = state.held_per_s is None and state.ending != "not decidable"
        return "no rate that was tried holds the objectives" if is_failed else None

    def _catch_up(self, progress: Telling) -> None:
        """Cases that ended just before the run was cut off, and were not judged yet."""
        judged = {trial.case for trial in self._known.trials}
        for case in self.plan.cases:
            if case.id in self._records.status.cases and case.id not in judged:
                self._judge(case, progress, 0.0)

    def _next_case(self) -> Case | None:
        rate = self._state().next_rate()
        if rate is None:
            return None
        last = self.plan.cases[-1]
        if last.id not in self._records.status.cases:
            return last  # planned, and not run yet
        if self._is_time_up():
            return None
        number = len(self.plan.cases) + 1
        case = search_case(self._search, last.target, last.load, self.plan.run, number, rate)
        self.plan = self.plan.model_copy(update={"cases": (*self.plan.cases, case)})
        write_plan(self.plan, self._run)
        return case

    def _is_time_up(self) -> bool:
        took_s = [trial.took_s for trial in self._known.trials]
        return sum(took_s) + max(took_s[1:] or took_s, default=0.0) > self._search.time_limit

    def _judge(self, case: Case, progress: Telling, took_s: float) -> None:
        rate = case.load.rate
        assert isinstance(rate, float), "a search has one rate a case"
        figures = self._look(self._run, case)
        problem = _problem(case, figures, self._records.status.cases[case.id])
        found = judge(self._search, rate, figures, problem)
        trial = Trial(case.id, rate, found.missed, figures, round(took_s, 3), found.doubts)
        self._known.trials.append(trial)
        write_search(self._run, self._known)
        progress.tell(_line(trial))

    def _state(self) -> RateSearch:
        return state_of(self.plan, self._known)


def _problem(case: Case, figures: dict[str, float | None], status: CaseStatus) -> str | None:
    """Why a case is not whole."""
    sent, planned = figures.get("sent") or 0.0, case.load.total_messages
    if status.status != "ok":
        return status.reason or f"the case is {status.status}"
    if planned is not None and sent < planned:
        return f"only {sent:,.0f} of {planned:,} messages were sent"
    return None


def _line(trial: Trial) -> str:
    p99 = trial.figures.get("p99")
    latency = "" if p99 is None else f"  p99 {p99:,.4g} ms"
    words = {
        Outcome.MET: "holds",
        Outcome.MISSED: f"misses: {'; '.join(trial.missed)}",
        Outcome.NOT_DECIDABLE: f"not decidable: {'; '.join(trial.doubts)}",
    }
    return f"case {trial.case}  {trial.rate_per_s:,.0f}/s{latency}  {words[trial.outcome]}"
