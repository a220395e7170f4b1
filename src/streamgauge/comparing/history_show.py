"""What there is to see of a series of runs: where a level changed, and every figure over the runs."""

from __future__ import annotations

from collections.abc import Iterable

from streamgauge.comparing.document import CaseHistory, DiffVerdict, HistoryDocument, MetricHistory
from streamgauge.comparing.show import (
    VERDICT_TONES,
    VERDICT_WORDS,
    changed_table,
    figure_words,
    settings_words,
)
from streamgauge.report.medium import Tone
from streamgauge.report.plot_parts import Axis, NumberText, Plot, Series, Style
from streamgauge.report.quantities import plural
from streamgauge.report.shown import Badge, Block, Figures, Note, Section, Shown, Verdict
from streamgauge.report.shown_tables import Cell, Column, Table, row

READING = (
    "The level changes at a run if the figures before and after it differ by more than the same runs would "
    "show in 99 of 100 random orders. That takes several runs of the new level: to judge a single run, "
    "compare it with its base by streamgauge diff. Runs whose figures may not be quoted are shown, but not "
    "judged.",
)


def show_history(document: HistoryDocument) -> Shown:
    changes = [change for case in document.cases for metric in case.metrics for change in metric.changes]
    words = plural(len(changes), "change") if changes else "no change seen"
    is_worse = any(change.verdict is DiffVerdict.SLOWER for change in changes)
    tone = Tone.QUIET if not changes else Tone.BAD if is_worse else Tone.GOOD
    return Shown(
        kicker="streamgauge diff --history",
        title=f"{document.name}: {plural(len(document.runs), 'run')}",
        run=document.runs[-1],
        badge=Badge(words, tone),
        verdicts=[Verdict("Level", words, tone, list(_lines(document)))],
        facts=[],
        sections=[_section(case) for case in document.cases],
        about=[f"{document.runs[0]} to {document.runs[-1]}"],
        reading=READING,
    )


def _lines(document: HistoryDocument) -> Iterable[str]:
    for case in document.cases:
        for metric in case.metrics:
            for change in metric.changes:
                yield (
                    f"{settings_words(case.settings)}: {metric.metric} {VERDICT_WORDS[change.verdict]} since "
                    f"{change.run}: {figure_words(change.base, metric.unit)} to "
                    f"{figure_words(change.new, metric.unit)} ({change.ratio:.2f}×)"
                )
    if len(document.runs) < document.needed_count:
        count = len(document.runs)
        yield f"at least {document.needed_count} runs are needed to see a change; there are {count}"


def _section(case: CaseHistory) -> Section:
    blocks: list[Block] = [_table(case)]
    for metric in case.metrics:
        for change in metric.changes:
            if change.environment:
                blocks.append(
                    changed_table(
                        f"Environment: {change.run} compared with the run before", change.environment
                    )
                )
    left_out = {point.run for metric in case.metrics for point in metric.points if not point.is_quoted}
    if left_out:
        blocks.append(
            Note(f"Shown but not judged, because not valid: {', '.join(sorted(left_out))}", Tone.WARN)
        )
    blocks.append(Figures([_figure(metric) for metric in case.metrics]))
    return Section(settings_words(case.settings).capitalize(), blocks)


def _table(case: CaseHistory) -> Table:
    columns = [Column(name) for name in ("metric", "since", "verdict", "base", "new", "ratio", "p")]
    rows = [
        row(
            metric.metric,
            change.run,
            Cell(VERDICT_WORDS[change.verdict], VERDICT_TONES[change.verdict], is_pill=True),
            figure_words(change.base, metric.unit),
            figure_words(change.new, metric.unit),
            f"{change.ratio:.3f}",
            f"{change.p:.2g}",
        )
        for metric in case.metrics
        for change in metric.changes
    ]
    return Table("Changes of the level", columns, rows, name="changes")


def _figure(metric: MetricHistory) -> Plot:
    told = NumberText("figures", 4, f" {metric.unit}")
    names = [point.run for point in metric.points]
    ends = [point.interval or (None, None) for point in metric.points]
    return Plot(
        metric.metric,
        [
            Series(
                metric.metric,
                names,
                [point.figure for point in metric.points],
                Style(0),
                "line and points",
                told,
            ),
            Series("low", names, [low for low, _ in ends], Style(1, 1, "dotted"), "line", told),
            Series("high", names, [high for _, high in ends], Style(1, 1, "dotted"), "line", told),
        ],
        Axis(scale="names"),
        Axis(metric.unit, from_zero=True),
    )
