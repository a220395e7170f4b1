"""What there is to see of differences: the verdict, what was not the same, then figure by figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamgauge.comparing.document import (
    CaseDifference,
    Changed,
    DiffDocument,
    DiffVerdict,
    MetricDifference,
    RunDifference,
    SpreadSource,
)
from streamgauge.core.verdicts import Integrity, Validity
from streamgauge.report.cause_words import INTEGRITY_WORDS, VALIDITY_WORDS, cause_text
from streamgauge.report.medium import Tone
from streamgauge.report.plot_parts import Axis, NumberText, Plot, Series, Style
from streamgauge.report.quantities import NOTHING, digits_text, plural
from streamgauge.report.settings_text import value_text
from streamgauge.report.shown import Badge, Block, Figures, Note, Notes, Section, Shown, Verdict
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row

VERDICT_WORDS = {
    DiffVerdict.FASTER: "faster",
    DiffVerdict.SLOWER: "slower",
    DiffVerdict.NO_DIFFERENCE_SEEN: "no difference seen",
    DiffVerdict.NOT_COMPARABLE: "not comparable",
}
VERDICT_TONES = {
    DiffVerdict.FASTER: Tone.GOOD,
    DiffVerdict.SLOWER: Tone.BAD,
    DiffVerdict.NO_DIFFERENCE_SEEN: Tone.QUIET,
    DiffVerdict.NOT_COMPARABLE: Tone.WARN,
}
READING = (
    "A ratio is new divided by base: a latency ratio of 2 means twice as slow, a rate ratio of 2 twice as "
    "fast. Its interval comes from the spread between blocks of time within a run, and from the spread "
    "between runs. The latter is learned from repeats; the top of the page says what is used without them.",
    "A verdict is given only if it holds with all figures of these runs taken together (Holm's correction), "
    "and never if the figures of a side may not be quoted. No difference seen does not mean that there is "
    "none: the interval tells how large a difference could have been missed.",
)


def spread_words(document: DiffDocument) -> str:
    percent = f"{document.between_runs_percent:.2g}%"
    tails = f"{2 * document.between_runs_percent:.2g}% from p95 on"
    return {
        SpreadSource.ASKED: f"Unless repeats show it, runs differ by {percent} (SD), {tails}, as you said.",
        SpreadSource.EARLIER_RUNS: f"Unless repeats show it, runs differ by up to {percent} (SD): learned "
        f"from {plural(document.between_runs_count, 'earlier run')} of this workload.",
        SpreadSource.USUAL: f"Unless repeats show it, runs are assumed to differ by {percent} (SD), {tails}.",
    }[document.between_runs_from]


def show_diff(document: DiffDocument) -> Shown:
    found = document.differences
    sections = [section for each in found for section in _sections(each, is_alone=len(found) == 1)]
    if len(found) > 1:
        sections.insert(0, _overview(document))
    return Shown(
        kicker="streamgauge diff",
        title=f"{_joined(document.base)} against {'; '.join(_joined(each.runs) for each in found)}",
        run=_joined(document.base),
        badge=_badge(found),
        verdicts=[
            _verdict(each, "Verdict" if len(found) == 1 else f"New {number}")
            for number, each in enumerate(found, 1)
        ],
        facts=[],
        sections=sections,
        about=[f"{100 * document.confidence:g}% intervals. {spread_words(document)}"],
        reading=READING,
    )


def _sections(found: RunDifference, *, is_alone: bool) -> Iterable[Section]:
    of = "" if is_alone else f" of {_joined(found.runs)}"
    same: list[Block] = [
        changed_table("Environment", found.environment),
        changed_table("Settings", found.settings),
    ]
    if not (found.environment or found.settings):
        same.append(Note("Environment and settings are the same.", Tone.GOOD))
    yield Section(f"What was not the same{of}", same)
    blocks: list[Block] = [_table(found)]
    blocks += [Notes(lines, Tone.WARN) for lines in [list(_trouble(found))] if lines]
    blocks.append(Figures([_figure(found)] if any(case.metrics for case in found.cases) else []))
    yield Section(f"Figure by figure{of}", blocks)
    alone = [f"only the base has it: {name}" for name in found.only_base]
    alone += [f"only the new run has it: {name}" for name in found.only_new]
    if alone:
        yield Section(f"Cases without a match{of}", [Notes(alone)])


def changed_table(title: str, changed: Sequence[Changed]) -> Table:
    rows = [row(each.name, _text(each.base), _text(each.new)) for each in changed]
    return Table(title, [Column("name"), Column("base"), Column("new")], rows)


def settings_words(settings: Mapping[str, Any]) -> str:
    """What tells a case from the others of its runs."""
    return ", ".join(f"{name}={_text(value)}" for name, value in settings.items()) or "the only case"


def _table(found: RunDifference) -> Table:
    columns = [
        Column("case"),
        Column("metric"),
        Column("verdict"),
        Column("base", Unit.NUMBER),
        Column("new", Unit.NUMBER),
        Column("unit"),
        Column("ratio"),
        Column("interval"),
        Column("p", is_spare=True),
        Column("repeats", is_spare=True),
    ]
    rows = [_row(case, each) for case in found.cases for each in case.metrics]
    return Table("New to base", columns, rows, name="differences")


def _row(case: CaseDifference, found: MetricDifference) -> Any:
    return row(
        settings_words(case.settings),
        found.metric,
        Cell(VERDICT_WORDS[found.verdict], VERDICT_TONES[found.verdict], is_pill=True),
        found.base,
        found.new,
        found.unit,
        None if found.ratio is None else f"{found.ratio:.3f}",
        interval_words(found.interval),
        None if found.p is None else f"{found.p:.2g}",
        f"{len(case.base.cases)} and {len(case.new.cases)}",
    )


def interval_words(interval: tuple[float, float | None] | None) -> str | None:
    if interval is None:
        return None
    low, high = interval
    return f"{low:.3f} to {'any' if high is None else f'{high:.3f}'}"


def _trouble(found: RunDifference) -> Iterable[str]:
    """Each reason once, with the figures that it is of."""
    for case in found.cases:
        for name, side in (("base", case.base), ("new", case.new)):
            if side.integrity not in (Integrity.OK, Integrity.NOT_CHECKED):
                yield f"{settings_words(case.settings)}: {name}: {INTEGRITY_WORDS[side.integrity]}"
            if side.validity is not Validity.VALID:
                yield f"{settings_words(case.settings)}: {name}: {VALIDITY_WORDS[side.validity]}"
        metrics: dict[str, list[str]] = {}
        for each in case.metrics:
            for why in each.causes:
                about = f"{why.about}: " if why.about else ""
                metrics.setdefault(f"{about}{cause_text(why)}", []).append(each.metric)
        for words, names in metrics.items():
            yield f"{settings_words(case.settings)}: {', '.join(dict.fromkeys(names))}: {words}"


def _figure(found: RunDifference) -> Plot:
    """Ratios with the ends of their intervals, on a logarithmic scale."""
    told = NumberText("figures", 4)
    rows = [
        (f"{settings_words(case.settings)} · {each.metric}" if len(found.cases) > 1 else each.metric, each)
        for case in found.cases
        for each in case.metrics
        if each.ratio is not None
    ]
    names = [name for name, _ in rows]
    ends = [each.interval or (None, None) for _, each in rows]
    return Plot(
        "How many times the base",
        [
            Series("ratio", names, [each.ratio for _, each in rows], Style(0), "points", told),
            Series("low", names, [low for low, _ in ends], Style(1, symbol="cross"), "points", told),
            Series("high", names, [high for _, high in ends], Style(1, symbol="cross"), "points", told),
            Series("the same", names, [1.0] * len(names), Style(2, dash="dashed"), "line"),
        ],
        Axis(scale="names"),
        Axis("×", "log"),
    )


def _overview(document: DiffDocument) -> Section:
    columns = [Column("new"), *(Column(word, Unit.COUNT) for word in VERDICT_WORDS.values())]
    rows = [
        row(_joined(each.runs), *(each.count(verdict) for verdict in VERDICT_WORDS))
        for each in document.differences
    ]
    return Section("All of them", [Table("Figures by verdict", columns, rows)])


def _verdict(found: RunDifference, name: str) -> Verdict:
    """Which figures differ, and by how much."""
    lines = [f"new: {_joined(found.runs)}"]
    for verdict in (DiffVerdict.SLOWER, DiffVerdict.FASTER):
        for case in found.cases:
            said = [
                f"{each.metric} {each.ratio:.2f}× ({interval_words(each.interval)})"
                for each in case.metrics
                if each.verdict is verdict and each.ratio is not None
            ]
            if said:
                lines.append(f"{VERDICT_WORDS[verdict]}: {settings_words(case.settings)}: {', '.join(said)}")
    words, tone = _worst([found])
    not_comparable = found.count(DiffVerdict.NOT_COMPARABLE)
    if not_comparable:
        lines.append(f"{plural(not_comparable, 'figure')} not comparable")
    if not found.cases:
        lines.append("no case of one side matches a case of the other")
    return Verdict(name, words, tone, lines)


def _badge(found: Sequence[RunDifference]) -> Badge:
    return Badge(*_worst(found))


def _worst(found: Sequence[RunDifference]) -> tuple[str, Tone]:
    """The gravest of what there is to say; of figures that go both ways that they do."""
    counts = {verdict: sum(each.count(verdict) for each in found) for verdict in DiffVerdict}
    if counts[DiffVerdict.FASTER] and counts[DiffVerdict.SLOWER]:
        return "faster and slower", Tone.WARN
    for verdict in (DiffVerdict.SLOWER, DiffVerdict.FASTER, DiffVerdict.NO_DIFFERENCE_SEEN):
        if counts[verdict]:
            return VERDICT_WORDS[verdict], VERDICT_TONES[verdict]
    return VERDICT_WORDS[DiffVerdict.NOT_COMPARABLE], Tone.WARN


def _joined(runs: Sequence[str]) -> str:
    return ", ".join(runs)


def _text(value: Any) -> str:
    return NOTHING if value is None else value_text(value)


def figure_words(figure: float | None, unit: str) -> str:
    return NOTHING if figure is None else f"{digits_text(figure)}{'' if unit == '/s' else ' '}{unit}"
