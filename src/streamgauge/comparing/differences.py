"""Runs against a base: cases matched by settings, figure by figure, and what follows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from streamgauge.comparing.between_runs import Spread, spread_for
from streamgauge.comparing.document import (
    CaseDifference,
    CaseSide,
    Changed,
    DiffDocument,
    DiffVerdict,
    MetricDifference,
    RunDifference,
)
from streamgauge.comparing.environments import environment_differences
from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.matching import Matched, Repeats, matching
from streamgauge.comparing.measured import MeasuredRun, is_better_lower, unit_of
from streamgauge.comparing.ratio import CONFIDENCE, Ratio, ratio_of
from streamgauge.core.holm import holm
from streamgauge.core.run_dir import runs_in
from streamgauge.core.verdicts import (
    Cause,
    CauseCode,
    Validity,
    cause,
    worst_integrity,
    worst_validity,
)
from streamgauge.spec.metrics import Metric

Side = Sequence[MeasuredRun]
"""Runs that are repeats of each other."""


def diff_document(
    base: Side,
    new: Sequence[Side],
    *,
    confidence: float = CONFIDENCE,
    between_runs_percent: float | None = None,
) -> DiffDocument:
    """`between_runs_percent`: what runs of the same are apart by; None: earlier runs say it, or the usual."""
    spread = spread_for(base, new, runs_in(base[0].run.parent), between_runs_percent)
    return DiffDocument(
        base=[run.id for run in base],
        confidence=confidence,
        between_runs_percent=spread.most_percent,
        between_runs_from=spread.source,
        between_runs_count=spread.run_count,
        differences=[run_difference(base, side, confidence, spread) for side in new],
    )


def run_difference(base: Side, new: Side, confidence: float, spread: Spread) -> RunDifference:
    found = matching(*([part for run in side for part in run.parts] for side in (base, new)))
    cases = [_case(each, confidence, spread) for each in found.matched]
    _judge(cases, 1 - confidence)
    return RunDifference(
        runs=[run.id for run in new],
        environment=_environment(base, new),
        settings=found.changed,
        cases=cases,
        only_base=[name for group in found.only_base for name in _names(group)],
        only_new=[name for group in found.only_new for name in _names(group)],
    )


def compared_figures(
    base: Repeats, new: Repeats, metric: Metric, confidence: float, spread: Spread
) -> Ratio | list[Cause]:
    """The ratio; or why there is none, or none to be quoted."""
    told = {"base": [part.estimate(metric) for part in base.parts]}
    told["new"] = [part.estimate(metric) for part in new.parts]
    doubts: list[Cause] = []
    for doubt in (*_doubts(base, "base"), *_doubts(new, "new")):
        if doubt not in doubts:
            doubts.append(doubt)
    for side, found in told.items():
        doubts += [_about(each, side) for each in found if isinstance(each, Cause)][:1]
    if doubts:
        return doubts
    sides = [[each for each in found if isinstance(each, Estimate)] for found in told.values()]
    usual_sd, weight = spread.sd(base.settings, metric)
    return ratio_of(sides[0], sides[1], usual_sd, confidence, weight)


def _case(matched: Matched, confidence: float, spread: Spread) -> CaseDifference:
    """Verdicts are given when all figures are known."""
    base, new = matched.base, matched.new
    metrics = [
        _metric(metric, matched, compared_figures(base, new, metric, confidence, spread))
        for metric in base.parts[0].metrics
        if metric in new.parts[0].metrics
    ]
    return CaseDifference(settings=matched.settings, base=_side(base), new=_side(new), metrics=metrics)


def _metric(metric: Metric, matched: Matched, found: Ratio | list[Cause]) -> MetricDifference:
    if isinstance(found, list):
        base, new = _figure(matched.base, metric), _figure(matched.new, metric)
        # Another tool's figures may be set side by side; what follows from that nobody can say.
        is_told = base and new and {each.code for each in found} == {CauseCode.OTHER_TOOL}
        return MetricDifference(
            metric=metric.name,
            unit=unit_of(metric),
            base=base,
            new=new,
            ratio=new / base if is_told and base and new else None,
            interval=None,
            p=None,
            verdict=DiffVerdict.NOT_COMPARABLE,
            causes=found,
        )
    high = None if found.interval is None or math.isinf(found.interval[1]) else found.interval[1]
    is_told = found.p is not None
    return MetricDifference(
        metric=metric.name,
        unit=unit_of(metric),
        base=found.base,
        new=found.new,
        ratio=found.ratio,
        interval=None if found.interval is None else (found.interval[0], high),
        p=found.p,
        verdict=_direction(metric, found.ratio) if is_told else DiffVerdict.NOT_COMPARABLE,
        causes=[] if is_told else [cause(CauseCode.NO_REPEATS)],
    )


def _judge(cases: Sequence[CaseDifference], significance: float) -> None:
    """Many figures are looked at, so one of them may seem to differ by chance: Holm's correction."""
    all_of_them = [found for case in cases for found in case.metrics]
    for found, p in zip(all_of_them, holm([each.p for each in all_of_them]), strict=True):
        found.p = p
        if p is not None and p >= significance:
            found.verdict = DiffVerdict.NO_DIFFERENCE_SEEN


def _direction(metric: Metric, ratio: float) -> DiffVerdict:
    is_faster = (ratio < 1) == is_better_lower(metric)
    return DiffVerdict.FASTER if is_faster else DiffVerdict.SLOWER


def _figure(side: Repeats, metric: Metric) -> float | None:
    """To be seen, though nothing is said of it."""
    told = [part.estimate(metric) for part in side.parts]
    known = [each.log for each in told if isinstance(each, Estimate)]
    return math.exp(math.fsum(known) / len(known)) if known else None


def _doubts(side: Repeats, name: str) -> Iterator[Cause]:
    """What keeps its figures from being quoted. How many messages a percentile needs is asked for each."""
    for part in side.parts:
        for doubt in part.validity.causes:
            if doubt.code is not CauseCode.TOO_FEW_MESSAGES:
                yield cause(doubt.code, doubt.text, name, **doubt.figures)
        if part.validity.verdict is Validity.NOT_MEASURED and not part.validity.causes:
            yield cause(CauseCode.NOTHING_MEASURED, about=name)


def _about(doubt: Cause, side: str) -> Cause:
    about = f"{doubt.about}, {side}" if doubt.about else side
    return cause(doubt.code, doubt.text, about, **doubt.figures)


def _side(side: Repeats) -> CaseSide:
    return CaseSide(
        cases=list(_names(side)),
        integrity=worst_integrity(part.integrity for part in side.parts),
        validity=worst_validity(part.validity.verdict for part in side.parts),
    )


def _names(side: Repeats) -> Iterator[str]:
    return (f"{part.run}/{part.case}" for part in side.parts)


def _environment(base: Side, new: Side) -> list[Changed]:
    """Also between repeats: nobody would look for it there."""
    first, *others = (*base, *new)
    found: dict[str, Changed] = {}
    for other in others:
        for changed in environment_differences(first.document.environment, other.document.environment):
            found.setdefault(changed.name, changed)
    return list(found.values())
