"""What there is to see of a search for the limit: the answer, latency by rate, and a row for every rate."""

from __future__ import annotations

from streamgauge.core.outcomes import Outcome
from streamgauge.core.verdicts import Validity, worst_validity
from streamgauge.families.limit.document import Ending, LimitDocument, LimitFound, Step
from streamgauge.report.case_document import Case
from streamgauge.report.cases_show import show_cases
from streamgauge.report.cause_words import LIMIT_WORDS, OUTCOME_WORDS, VALIDITY_WORDS, limit_text
from streamgauge.report.medium import Tone
from streamgauge.report.plot_parts import Axis, Colour, NumberText, Plot, Series, Style, short, value_axis
from streamgauge.report.quantities import NOTHING, plural, rate_per_s_text, s_text
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import Fact, Figures, Note, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, Unit, row
from streamgauge.report.verdict_show import validity_tone
from streamgauge.report.words import LEG_NAMES
from streamgauge.spec.metrics import OF_MESSAGES, BoundUnit
from streamgauge.spec.objective import read_objective
from streamgauge.tables.percentile_support import is_supported

_STATISTICS = ("p50", "p99", "p99_9", "max")
_VERDICTS = {
    Outcome.MET: ("holds", Tone.GOOD),
    Outcome.MISSED: ("does not hold", Tone.BAD),
    Outcome.NOT_DECIDABLE: (OUTCOME_WORDS[Outcome.NOT_DECIDABLE], Tone.WARN),
    None: ("not settled", Tone.WARN),
}
_MARKS = {Outcome.MET: "✓", Outcome.MISSED: "✗", Outcome.NOT_DECIDABLE: "?"}
_ENDINGS = {
    Ending.FOUND: "the rate that holds and the one that does not are as close as requested",
    Ending.ALL_HELD: "every rate up to the highest allowed one holds",
    Ending.NONE_HELD: "no rate down to the lowest that is tried holds",
    Ending.NOT_DECIDABLE: "above what holds, trials did not come to rest: longer steps would tell",
    Ending.TIME: "the time was up",
    None: "the search has not come to its end",
}
_LINES = {
    "p50": Style(0, 2.5),
    "p99": Style(1, 2.5),
    "p99_9": Style(3, 1.5),
    "max": Style(5, 1.25, "dotted"),
}


def show_limit(document: LimitDocument, tables: ResultTables) -> Shown:
    limit = document.limit
    held = [trial.case for step in limit.steps if step.holds for trial in step.trials if trial.holds]
    trials = sum(len(step.trials) for step in limit.steps)
    figure = curve_figure(document)
    section = Section(
        "The limit",
        [
            Note(limit_sentence(limit), Tone.PLAIN if limit.held_per_s is not None else Tone.BAD),
            Note(f"Bottleneck: {limit_text(limit.bottleneck.limit, limit.bottleneck.cause)}", Tone.PLAIN),
            Figures([figure] if figure else []),
            steps_table(document),
            Note(
                f"{plural(len(limit.steps), 'rate')}, {plural(trials, 'trial')} in {s_text(limit.took_s)}. "
                f"Ended: {_ENDINGS[limit.ending]}."
            ),
            trials_table(document),
        ],
    )
    return show_cases(
        document,
        tables,
        kicker="streamgauge limit",
        answer=_answer(limit, is_good=document.is_good),
        first=[section],
        has_overview=False,
        counted=[case for case in document.cases if case.case in held] or document.cases,
        are_folded=True,
    )


def limit_sentence(limit: LimitFound) -> str:
    """The answer, and how well it is known."""
    slo = " and ".join(limit.slo)
    held, broken, undecided = limit.held_per_s, limit.broken_per_s, limit.undecided_per_s
    if held is None and undecided is not None:
        lowest = rate_per_s_text(undecided)
        return f"No rate that was tried is known to hold {slo}; the lowest, {lowest}, is not decidable."
    if held is None and broken is None:
        return f"It is not known yet at which rate {slo} hold."
    if held is None:
        return f"No rate that was tried holds {slo}; the lowest was {rate_per_s_text(broken)}."
    open_to_doubt = "" if undecided is None else f"{rate_per_s_text(undecided)} are not decidable; "
    if broken is None:
        return f"{rate_per_s_text(held)} hold {slo}; {open_to_doubt}no rate was found that does not."
    return f"{rate_per_s_text(held)} hold {slo}; {open_to_doubt}{rate_per_s_text(broken)} do not."


def _answer(limit: LimitFound, *, is_good: bool) -> Fact:
    named = limit.bottleneck.limit
    by = f"Limit: {LIMIT_WORDS[named] if named else 'not known'}"
    if limit.held_per_s is None:
        return Fact("Highest rate", NOTHING, lines=[limit_sentence(limit), by], tone=Tone.BAD)
    lines = [f"hold {' and '.join(limit.slo)}"]
    if limit.undecided_per_s is not None:
        lines.append(f"{rate_per_s_text(limit.undecided_per_s)} are not decidable")
    if limit.broken_per_s is not None:
        lines.append(f"{rate_per_s_text(limit.broken_per_s)} do not")
    tone = Tone.GOOD if is_good else Tone.WARN
    return Fact("Highest rate", f"{limit.held_per_s:,.0f}", "messages/s", [*lines, by], tone)


def _deciding(document: LimitDocument, step: Step) -> list[Case]:
    """The trials that decided a step; the marks tell of the others."""
    ids = [trial.case for trial in step.trials if step.outcome in (None, trial.outcome)]
    # Of trials that are all different none decided.
    ids = ids or [trial.case for trial in step.trials]
    return [case for case in document.cases if case.case in ids]


def _worst(cases: list[Case], name: str) -> Cell:
    """The worse of the trials, figure by figure."""
    legs = [case.latency_ms.intended_to_received for case in cases]
    known = [leg for leg in legs if getattr(leg, name) is not None]
    if not known:
        return Cell(None)
    worst = max(known, key=lambda leg: float(getattr(leg, name)))
    return Cell(getattr(worst, name), is_doubtful=not is_supported(name, worst.count))


def steps_table(document: LimitDocument) -> Table:
    rows = []
    for step in document.limit.steps:
        cases = _deciding(document, step)
        words, tone = _VERDICTS[step.outcome]
        validity = worst_validity(case.validity.verdict for case in cases)
        if tone is Tone.GOOD and validity is not Validity.VALID:
            tone = Tone.WARN  # what holds by figures that may not be quoted is no good news yet
        delivered = [case.throughput.received_messages_per_s for case in cases]
        known = [per_s for per_s in delivered if per_s is not None]
        marks = " ".join(f"{trial.case}{_MARKS[trial.outcome]}" for trial in step.trials)
        missed = dict.fromkeys(why for trial in step.trials for why in (*trial.missed, *trial.doubts))
        rows.append(
            row(
                Cell(step.rate_per_s),
                Cell(words, tone, is_pill=True),
                *(_worst(cases, name) for name in _STATISTICS),
                min(known, default=None),
                Cell(VALIDITY_WORDS[validity], validity_tone(validity)),
                marks,
                "; ".join(missed) or None,
            )
        )
    columns = [
        Column("rate", Unit.PER_S),
        Column("verdict"),
        *(Column(name.replace("_", "."), Unit.MS) for name in _STATISTICS),
        Column("received/s", Unit.PER_S),
        Column("validity", is_spare=True),
        Column("cases"),
        Column("missed", is_spare=True),
    ]
    title = "Every rate that was tried: ms from the intended time, of the worse trial that decided"
    return Table(title, columns, rows)


def trials_table(document: LimitDocument) -> Table:
    """The curve, a row for every trial."""
    by_case = {case.case: case for case in document.cases}
    names = ("mean", "p50", "p90", "p99", "p99_9", "max")
    rows: list[TableRow] = []
    for step in document.limit.steps:
        for trial in step.trials:
            case = by_case[trial.case]
            rows.append(
                row(
                    step.rate_per_s,
                    trial.case,
                    trial.holds,
                    trial.outcome.value,
                    *(getattr(case.latency_ms.intended_to_received, name) for name in names),
                    case.throughput.received_messages_per_s,
                    case.bottleneck.limit.value if case.bottleneck.limit else None,
                    case.integrity.verdict.value,
                    case.validity.verdict.value,
                    "; ".join((*trial.missed, *trial.doubts)),
                )
            )
    columns = [
        Column("rate_per_s", Unit.NUMBER),
        Column("case"),
        Column("holds"),
        Column("outcome"),
        *(Column(name, Unit.MS) for name in names),
        Column("received_per_s", Unit.NUMBER),
        *(Column(name) for name in ("bottleneck", "integrity", "validity", "missed")),
    ]
    return Table("Trials", columns, rows, name="limit", where=frozenset())


def curve_figure(document: LimitDocument) -> Plot | None:
    """A point for each rate; what was to hold and what was found as lines across."""
    steps = document.limit.steps
    rates = [step.rate_per_s for step in steps]
    lines = []
    for name, style in _LINES.items():
        worst = [_worst(_deciding(document, step), name).value for step in steps]
        values = [None if value is None else short(float(value)) for value in worst]
        if any(value is not None for value in values):
            told = NumberText("up to", 3, "ms")
            lines.append(Series(name.replace("_", "."), rates, values, style, "line and points", told))
    if not lines:
        return None
    return Plot(
        f"Latency by rate, {LEG_NAMES['intended_to_received']}",
        [*lines, *_objectives(document.limit, rates), *_bounds(document.limit, lines)],
        Axis("messages/s", "log", told=NumberText("scaled", 3)),
        value_axis(lines, "ms"),
        reading="across",
        note="The worse trial that decided a rate. Upright: highest that holds, lowest that breaks.",
    )


def _objectives(limit: LimitFound, rates: list[float]) -> list[Series]:
    """Those on latency, as level lines."""
    found = []
    for text in limit.slo:
        objective = read_objective(text, OF_MESSAGES)
        if objective.unit is BoundUnit.MS:
            level = [objective.bound, objective.bound]
            found.append(Series(text, [min(rates), max(rates)], level, Style("bad", 1.5, "dashed")))
    return found


def _bounds(limit: LimitFound, lines: list[Series]) -> list[Series]:
    values = [value for line in lines for value in line.y if value is not None and value > 0]
    span = [min(values), max(values)] if values else [0.0, 1.0]
    bounds: tuple[tuple[float | None, str, Colour], ...] = (
        (limit.held_per_s, "holds", "good"),
        (limit.broken_per_s, "does not", "bad"),
    )
    return [
        Series(f"{name} {rate_per_s_text(rate)}", [rate, rate], span, Style(colour, 1.5, "dotted"))
        for rate, name, colour in bounds
        if rate is not None
    ]
