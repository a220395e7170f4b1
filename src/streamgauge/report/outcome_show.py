"""How objectives are shown: the same for every family, above and below what it shows itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from streamgauge.core.outcomes import ObjectiveOutcome, Outcome, worst_outcome
from streamgauge.report.cause_words import OUTCOME_WORDS, cause_text
from streamgauge.report.document import Document, Verdicts
from streamgauge.report.medium import ON_PAPER
from streamgauge.report.quantities import NOTHING, digits_text
from streamgauge.report.shown import Section, Shown, Verdict
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, row
from streamgauge.report.verdict_show import outcome_tone
from streamgauge.spec.metrics import BoundUnit

_SEEN_AT_MOST = 8
"""Rows: more are folded, and the headline says the worst of them."""

_FORMS: dict[BoundUnit, Callable[[float], str]] = {
    BoundUnit.MS: lambda figure: f"{digits_text(figure)} ms",
    BoundUnit.MESSAGES: lambda figure: f"{figure:,.0f}",
    BoundUnit.PER_S: lambda figure: f"{digits_text(figure)}/s",
    BoundUnit.PERCENT: lambda figure: f"{digits_text(figure)}%",
    BoundUnit.NONE: lambda figure: "yes" if figure else "no",
}


def with_objectives(shown: Shown, document: Document) -> Shown:
    """With one more verdict and one more section; as it is where there are no objectives."""
    if document.objectives is None:
        return shown
    verdict = Verdict(
        "Objectives",
        OUTCOME_WORDS[document.objectives],
        outcome_tone(document.objectives),
        list(_lines(document.parts)),
    )
    section = Section("Objectives", [objectives_table(document.parts)], where=ON_PAPER)
    return replace(shown, verdicts=[*shown.verdicts, verdict], sections=[section, *shown.sections])


def objectives_table(parts: Mapping[str, Verdicts]) -> Table:
    """A row for each objective of each part; as a file, too."""
    names = ("case", "objective", "outcome", "figure", "interval", "cause")
    rows = [_row(name, found) for name, part in parts.items() for found in part.objectives]
    return Table(
        "Objectives, and whether they were met",
        [Column(name) for name in names],
        rows,
        name="objectives",
        is_folded=len(rows) > _SEEN_AT_MOST,
    )


def figure_text(found: ObjectiveOutcome) -> str:
    return NOTHING if found.figure is None else _FORMS[BoundUnit(found.unit)](found.figure)


def outcome_interval_text(found: ObjectiveOutcome) -> str | None:
    form = _FORMS[BoundUnit(found.unit)]
    return None if found.interval is None else " to ".join(form(end) for end in found.interval)


def _row(name: str, found: ObjectiveOutcome) -> TableRow:
    return row(
        name,
        found.objective,
        Cell(OUTCOME_WORDS[found.outcome], outcome_tone(found.outcome), is_pill=True),
        figure_text(found),
        outcome_interval_text(found),
        "; ".join(cause_text(cause) for cause in found.causes) or None,
    )


def _lines(parts: Mapping[str, Verdicts]) -> Iterator[str]:
    """An objective a line: how often it was not met, and the first place where."""
    by_objective: dict[str, list[tuple[str, ObjectiveOutcome]]] = {}
    for name, part in parts.items():
        for found in part.objectives:
            by_objective.setdefault(found.objective, []).append((name, found))
    worst_first = sorted(by_objective.items(), key=lambda item: _gravity(item[1]))
    for objective, found_in in worst_first:
        yield f"{objective}: {_line(found_in)}"


def _gravity(found_in: list[tuple[str, ObjectiveOutcome]]) -> int:
    """Missed comes before what is not decidable, and that before what is met; else they keep their order."""
    worst = worst_outcome(found.outcome for _, found in found_in)
    return (Outcome.MISSED, Outcome.NOT_DECIDABLE, Outcome.MET, None).index(worst)


def _line(found_in: list[tuple[str, ObjectiveOutcome]]) -> str:
    said = []
    for outcome in (Outcome.MISSED, Outcome.NOT_DECIDABLE):
        there = [(name, found) for name, found in found_in if found.outcome is outcome]
        if not there:
            continue
        name, first = there[0]
        where = "" if len(found_in) == 1 else f" in {len(there)} of {len(found_in)}, as {name}"
        why = "; ".join(cause_text(cause) for cause in first.causes)
        is_figure = first.figure is not None and first.unit != BoundUnit.NONE
        told = "; ".join(part for part in (f"it was {figure_text(first)}" if is_figure else "", why) if part)
        said.append(f"{OUTCOME_WORDS[outcome]}{where}" + (f" – {told}" if told else ""))
    if said:
        return "; ".join(said)
    [first, *others] = [found for _, found in found_in]
    has_figure = not others and first.unit != BoundUnit.NONE
    return f"met, it was {figure_text(first)}" if has_figure else "met"
