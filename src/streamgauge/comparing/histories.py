"""A series of runs of the same workload: every figure over time, and where its level changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streamgauge.comparing.document import (
    CaseHistory,
    Change,
    DiffVerdict,
    HistoryDocument,
    HistoryPoint,
    MetricHistory,
)
from streamgauge.comparing.environments import environment_differences
from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.history import FEWEST_RUNS, cuts
from streamgauge.comparing.matching import Repeats, Settings, repeats_of, telling_settings
from streamgauge.comparing.measured import Measured, MeasuredRun, is_better_lower, unit_of
from streamgauge.comparing.ratio import CONFIDENCE
from streamgauge.core.verdicts import Validity
from streamgauge.spec.metrics import Metric


def history_document(runs: Sequence[MeasuredRun]) -> HistoryDocument:
    """`runs`: oldest first. A case of the newest is followed back through all that have it."""
    groups = repeats_of(part for run in reversed(runs) for part in run.parts)
    telling = telling_settings(groups)
    return HistoryDocument(
        name=runs[-1].document.name,
        runs=[run.id for run in runs],
        needed_count=FEWEST_RUNS,
        cases=[
            CaseHistory(
                settings={name: group.settings.get(name) for name in telling},
                metrics=[_metric(metric, group, runs) for metric in group.parts[0].metrics],
            )
            for group in groups
        ],
    )


def same_workload(runs: Iterable[MeasuredRun], newest: MeasuredRun) -> list[MeasuredRun]:
    """Of these, those that are of the same workload as the newest: by its name, kind and settings."""
    asked = [part.settings for part in newest.parts]
    return [
        run
        for run in runs
        if (run.document.name, run.document.kind) == (newest.document.name, newest.document.kind)
        and share_settings(asked, (part.settings for part in run.parts))
    ]


def share_settings(one: Iterable[Settings], other: Iterable[Settings]) -> bool:
    """Whether some case of one is a case of the other, too."""
    first, second = ({repr(sorted(each.items(), key=str)) for each in side} for side in (one, other))
    return not first.isdisjoint(second)


def _metric(metric: Metric, group: Repeats, runs: Sequence[MeasuredRun]) -> MetricHistory:
    by_run = {part.run: part for part in reversed(group.parts)}
    seen = [(run, by_run[run.id]) for run in runs if run.id in by_run]
    points = [_point(metric, part) for _, part in seen]
    return MetricHistory(
        metric=metric.name, unit=unit_of(metric), points=points, changes=_changes(metric, seen, points)
    )


def _point(metric: Metric, part: Measured) -> HistoryPoint:
    told = part.estimate(metric)
    if not isinstance(told, Estimate):
        return HistoryPoint(run=part.run, figure=None, interval=None, is_quoted=False)
    return HistoryPoint(
        run=part.run,
        figure=told.value,
        interval=None if told.limits is None else told.limits(CONFIDENCE),
        is_quoted=part.validity.verdict is Validity.VALID,
    )


def _changes(
    metric: Metric, seen: Sequence[tuple[MeasuredRun, Measured]], points: Sequence[HistoryPoint]
) -> list[Change]:
    quoted = [
        (run, point.figure)
        for (run, _), point in zip(seen, points, strict=True)
        if point.is_quoted and point.figure is not None
    ]
    found = []
    for cut in cuts([figure for _, figure in quoted]):
        before, run = quoted[cut.at - 1][0], quoted[cut.at][0]
        is_faster = (cut.after < cut.before) == is_better_lower(metric)
        found.append(
            Change(
                run=run.id,
                base=cut.before,
                new=cut.after,
                ratio=cut.after / cut.before,
                p=cut.p,
                verdict=DiffVerdict.FASTER if is_faster else DiffVerdict.SLOWER,
                environment=environment_differences(before.document.environment, run.document.environment),
            )
        )
    return found
