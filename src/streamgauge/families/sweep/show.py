"""What there is to see of a sweep: what each knob costs, and how figures follow the one that tells most."""

from __future__ import annotations

from collections.abc import Iterable

from streamgauge.core.verdicts import Validity
from streamgauge.families.sweep.document import Effect, SweepDocument
from streamgauge.families.sweep.effect_figures import RESPONSE_NAMES, effect_figures, value_words
from streamgauge.families.sweep.scope_table import scope_section
from streamgauge.report.cases_show import show_cases
from streamgauge.report.knob_figures import knob_figures
from streamgauge.report.knob_points import knob_plot
from streamgauge.report.medium import ON_PAGE, Tone
from streamgauge.report.quantities import digits_text, plural
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import Block, Figures, Note, Notes, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row

_OTHER_KNOBS = "Other knobs: streamgauge plot RUN --x KNOB. The folder plots has the same data for Gnuplot."
_HOW = (
    "Each figure as a multiple of that at the knob's first value: the geometric mean over all pairs of cases "
    "that differ only in this knob, with its 95% interval where there is more than one pair."
)
_COMPARED_AT_MOST = 4
"""Of a sweep's cases in one plot; small multiples by knob say more than a dozen lines."""


def show_sweep(document: SweepDocument, tables: ResultTables) -> Shown:
    first = [_costs(document)] if document.effects else []
    plot = knob_plot([document])
    if plot is not None:
        blocks: list[Block] = [Figures(knob_figures(plot)), Note(_OTHER_KNOBS)]
        first.append(Section(f"By {plot.knob}", blocks, where=ON_PAGE))
    if any(case.parameters.streams == "per_partition" for case in document.cases):
        first.append(scope_section(document.cases))
    return show_cases(
        document, tables, kicker="streamgauge sweep", first=first, compared_at_most=_COMPARED_AT_MOST
    )


def _costs(document: SweepDocument) -> Section:
    knobs = list(dict.fromkeys(effect.knob for effect in document.effects))
    blocks: list[Block] = [cost_table(document.effects), *_interactions(document)]
    doubtful = [case.case for case in document.cases if case.validity.verdict is Validity.INVALID]
    if doubtful:
        about = f"{plural(len(doubtful), 'case')} behind this may not be quoted: {', '.join(doubtful)}."
        blocks.append(Note(about, Tone.WARN))
    blocks.append(Figures(effect_figures(document.effects)))
    return Section(f"What {_and(knobs)} cost", blocks)


def cost_table(effects: Iterable[Effect]) -> Table:
    """A row for each value of a knob but its first."""
    by_value: dict[tuple[object, ...], dict[str, Effect]] = {}
    for effect in effects:
        place = (effect.knob, effect.base, effect.value)
        by_value.setdefault(place, {})[effect.response] = effect
    columns = [
        Column("knob"),
        Column("from"),
        Column("to"),
        *(Column(f"{name} ×") for name in RESPONSE_NAMES.values()),
        Column("pairs", Unit.COUNT),
    ]
    rows = [
        row(
            str(knob),
            value_words(str(knob), base),
            value_words(str(knob), value),
            *(_cell(found.get(response)) for response in RESPONSE_NAMES),
            max(effect.pair_count for effect in found.values()),
        )
        for (knob, base, value), found in by_value.items()
    ]
    return Table("What each knob does, all else being equal", columns, rows, _HOW, name="effects")


def _cell(effect: Effect | None) -> Cell:
    if effect is None:
        return Cell(None)
    if effect.low is None or effect.high is None:
        return Cell(digits_text(effect.ratio), is_doubtful=True)
    is_clear = effect.low > 1 or effect.high < 1
    words = f"{digits_text(effect.ratio)} ({digits_text(effect.low)}–{digits_text(effect.high)})"
    return Cell(words, Tone.PLAIN if is_clear else Tone.QUIET)


def _interactions(document: SweepDocument) -> list[Block]:
    """What a main effect alone would hide."""
    said = [
        f"{RESPONSE_NAMES[one.response]}: what {one.knob} {value_words(one.knob, one.value)} does depends "
        f"on {one.other_knob}: ×{digits_text(one.least_ratio)} at "
        f"{value_words(one.other_knob, one.least_at)}, ×{digits_text(one.most_ratio)} at "
        f"{value_words(one.other_knob, one.most_at)}"
        + ("." if one.is_certain else "; more rounds (--iterations) would tell whether that is chance.")
        for one in document.interactions
    ]
    return [Notes(said, Tone.WARN)] if said else []


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
