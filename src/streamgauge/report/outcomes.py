"""Whether objectives are met, by the same rule in every family: a family says what the figures were.

What is not known is neither met nor missed. A figure that may not be quoted decides nothing, nor does a
percentile with too few messages behind it, nor an interval with the bound inside; a count beyond its bound is
a miss whatever else went wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from streamgauge.core.outcomes import ObjectiveOutcome, Outcome
from streamgauge.core.verdicts import Cause, CauseCode, Validity, cause
from streamgauge.report.document import ValidityVerdict
from streamgauge.spec.metrics import VALID, BoundUnit
from streamgauge.spec.objective import Objective
from streamgauge.tables.percentile_support import fewest_beyond


@dataclass(frozen=True)
class Known:
    """What is known of the figure that an objective is on."""

    figure: float | None
    interval: tuple[float, float] | None = None
    message_count: int | None = None
    """How many are behind it."""
    why_not: Cause | None = None
    """Why there is no figure."""


FigureOf = Callable[[Objective], Known]


def outcomes_of(
    objectives: Iterable[Objective],
    figure_of: FigureOf,
    validity: ValidityVerdict,
    *,
    by_figures_alone: bool = False,
) -> list[ObjectiveOutcome]:
    """Of one case, or whatever else has verdicts; `figure_of` is not asked for `valid`. `by_figures_alone`:
    whether figures may be quoted is no part of the question, as of the steps of a search."""
    found = []
    for objective in objectives:
        known = _of_validity(validity) if objective.metric == VALID else figure_of(objective)
        outcome, causes = _decided(objective, known, validity, by_figures_alone)
        has_bound = objective.unit is not BoundUnit.NONE
        found.append(
            ObjectiveOutcome(
                objective=str(objective),
                metric=objective.metric.name,
                outcome=outcome,
                figure=known.figure,
                bound=objective.bound if has_bound else None,
                unit=objective.unit.value,
                interval=known.interval,
                causes=causes,
            )
        )
    return found


def _of_validity(validity: ValidityVerdict) -> Known:
    is_known = validity.verdict is not Validity.NOT_MEASURED
    return Known(float(validity.verdict is Validity.VALID) if is_known else None)


def _decided(
    objective: Objective, known: Known, validity: ValidityVerdict, by_figures_alone: bool
) -> tuple[Outcome, list[Cause]]:
    if known.figure is None:
        return Outcome.NOT_DECIDABLE, [known.why_not or cause(CauseCode.NOTHING_MEASURED)]
    if objective.metric == VALID:
        # Why it is not valid is why it is missed.
        return (Outcome.MET, []) if known.figure else (Outcome.MISSED, validity.causes)
    doubts = [] if by_figures_alone else list(_doubts(objective, known, validity))
    if doubts:
        return Outcome.NOT_DECIDABLE, doubts
    ends = known.interval or (known.figure,)
    held = {objective.holds(end) for end in ends}
    if len(held) > 1:
        low, high = min(ends), max(ends)
        return Outcome.NOT_DECIDABLE, [cause(CauseCode.BOUND_IN_INTERVAL, low=low, high=high)]
    if held == {False}:
        return Outcome.MISSED, []
    unfinished = [doubt for doubt in validity.causes if doubt.code is CauseCode.INCOMPLETE]
    # What did not come to its end may still have lost a message.
    return (Outcome.NOT_DECIDABLE, unfinished) if unfinished else (Outcome.MET, [])


def _doubts(objective: Objective, known: Known, validity: ValidityVerdict) -> Iterable[Cause]:
    metric = objective.metric
    if not metric.is_quoted:
        return
    # Whether there are enough messages is asked for each percentile, not for the p99 of the headline.
    yield from (doubt for doubt in validity.causes if doubt.code is not CauseCode.TOO_FEW_MESSAGES)
    if metric.share is not None and known.message_count is not None:
        needed = fewest_beyond(metric.share)
        if known.message_count < needed:
            yield cause(
                CauseCode.TOO_FEW_MESSAGES,
                about=metric.name,
                message_count=known.message_count,
                needed_count=needed,
            )
