"""Whether a run keeps to what is expected of it: pass, fail, or nobody can say.

The rule is that of objectives (`report/outcomes`). Against a baseline the figure is the ratio, and its
interval decides: all of it on one side of the bound, or nothing is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from streamgauge.comparing.between_runs import Spread, spread_for
from streamgauge.comparing.differences import Side, compared_figures
from streamgauge.comparing.document import Changed
from streamgauge.comparing.environments import environment_differences
from streamgauge.comparing.expectations import Expectations
from streamgauge.comparing.matching import Matched, Matching, matching
from streamgauge.comparing.measured import measured_run
from streamgauge.comparing.show import settings_words
from streamgauge.core.outcomes import ObjectiveOutcome, Outcome, worst_outcome
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.core.verdicts import Cause, CauseCode, Validity, cause
from streamgauge.report.document import Document, Part, State, ValidityVerdict
from streamgauge.report.outcomes import Known, outcomes_of
from streamgauge.report.results import results_document
from streamgauge.spec.metrics import RATE, Metric, duration, percentile
from streamgauge.spec.objective import Objective

_MOST_PERCENT = 1e6
"""Where an interval has no end."""


class Expected(Part):
    """One expectation of one case."""

    case: str
    is_against_baseline: bool
    outcome: ObjectiveOutcome


class CheckDocument(Part):
    kind: Literal["check"] = "check"
    run: str
    name: str
    """of the workload"""
    baseline: list[str]
    """runs; empty: there is none"""
    status: State
    outcome: Outcome
    """met: pass; missed: fail; not_decidable: inconclusive"""
    environment: list[Changed]
    """what is not as it was in the baseline"""
    settings: list[Changed]
    expected: list[Expected]


def check_document(
    run: RunDir,
    expectations: Expectations,
    baseline: Side,
    *,
    confidence: float,
    between_runs_percent: float | None = None,
) -> CheckDocument:
    """`baseline`: may be empty, then nothing is expected against it."""
    document = results_document(run, objectives=expectations.objectives)
    expected = [_ended(document)]
    expected += [
        Expected(case=name, is_against_baseline=False, outcome=found)
        for name, part in document.parts.items()
        for found in part.objectives
    ]
    environment: list[Changed] = []
    settings: list[Changed] = []
    if expectations.baseline and baseline:
        new = measured_run(run)
        environment = environment_differences(baseline[0].document.environment, document.environment)
        matched = matching([part for each in baseline for part in each.parts], new.parts)
        settings = matched.changed
        asked = expectations.baseline
        beside = runs_in(baseline[0].run.parent)
        spread = spread_for(baseline, [[new]], beside, between_runs_percent)
        for each in matched.matched:
            outcomes = _against(each, asked, confidence, spread)
            expected += [_of(settings_words(each.settings), found) for found in outcomes]
        for name, why in _unmatched(matched):
            expected += [_of(name, found) for found in _undecided(asked, why)]
    return CheckDocument(
        run=document.run,
        name=document.name,
        baseline=[each.id for each in baseline],
        status=document.status,
        outcome=worst_outcome(each.outcome.outcome for each in expected) or Outcome.NOT_DECIDABLE,
        environment=environment,
        settings=settings,
        expected=expected,
    )


_VALID = ValidityVerdict(verdict=Validity.VALID)


def _unmatched(matched: Matching) -> Iterator[tuple[str, Cause]]:
    """What one side alone has is compared with nothing: nobody can say that it keeps to anything."""
    for group in matched.only_new:
        yield f"case {group.parts[0].case}", cause(CauseCode.NO_SUCH_CASE)
    for group in matched.only_base:
        yield f"case {group.parts[0].case} of {group.parts[0].run}", cause(CauseCode.CASE_GONE)


def _undecided(asked: Sequence[Objective], why: Cause) -> Iterable[ObjectiveOutcome]:
    return outcomes_of(asked, lambda _: Known(None, why_not=why), _VALID)


def _of(case: str, outcome: ObjectiveOutcome) -> Expected:
    return Expected(case=case, is_against_baseline=True, outcome=outcome)


def _ended(document: Document) -> Expected:
    """A run that lost messages, or did not come to its end, is no pass, whatever was asked."""
    is_ok = document.status is State.OK
    told = [] if is_ok or not document.reason else [cause(CauseCode.RECORDED, document.reason)]
    outcome = ObjectiveOutcome(
        objective="status ok",
        metric="status",
        outcome=Outcome.MET if is_ok else Outcome.MISSED,
        figure=float(is_ok),
        bound=None,
        unit="",
        interval=None,
        causes=told,
    )
    return Expected(case="run", is_against_baseline=False, outcome=outcome)


def _against(
    matched: Matched, asked: Sequence[Objective], confidence: float, spread: Spread
) -> Iterator[ObjectiveOutcome]:
    def known(objective: Objective) -> Known:
        metric = _plain(objective.metric)
        found = compared_figures(matched.base, matched.new, metric, confidence, spread)
        if isinstance(found, list):
            return Known(None, why_not=found[0])
        if found.interval is None:
            return Known(None, why_not=cause(CauseCode.NO_REPEATS))
        low, high = (min(100 * end, _MOST_PERCENT) for end in found.interval)
        return Known(100 * found.ratio, interval=(low, high))

    # Whether figures may be quoted was asked of both sides.
    yield from outcomes_of(asked, known, _VALID)


def _plain(metric: Metric) -> Metric:
    """The figure itself, of which a share was asked."""
    if metric.name == RATE.name:
        return RATE
    return percentile(metric.name) or duration(metric.name)
