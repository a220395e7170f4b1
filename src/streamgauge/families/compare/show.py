"""What there is to see of a comparison: verdicts on top, a matrix for each operation, all figures below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from streamgauge.families.compare.document import Compared, CompareDocument, Conditions, Times, Total
from streamgauge.families.compare.figures import heat_map, repetitions_figure, warm_up_figure
from streamgauge.families.compare.places import OPERATION_NAMES, bytes_text
from streamgauge.families.compare.repetitions_csv import repetitions_csv
from streamgauge.families.compare.result_tables import REPETITIONS
from streamgauge.families.compare.words import (
    LEGEND,
    TEMPERATURE_MEANINGS,
    cell_name,
    decision_text,
    interval_text,
    library_text,
    p_text,
    place_text,
    rounds_text,
    setting_text,
    side_name,
    verdict_mark,
    verdict_text,
)
from streamgauge.plan.warm_up_file import WarmUpEnding
from streamgauge.report.cause_words import cause_text
from streamgauge.report.medium import EVERYWHERE, ON_CONSOLE, ON_PAGE, ON_PAPER, Medium, Tone
from streamgauge.report.parameters import ENDING_WORDS
from streamgauge.report.quantities import NOTHING, count_text, digits_text, percent_text
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.report.shown import Block, Fact, Figures, Note, Notes, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, Unit, row
from streamgauge.report.verdict_show import run_badge, run_reason, run_verdicts, verdict_cells

_STATISTICS = {"max": "max", "min": "min", "mean": "mean", "sd": "SD", "cv": "CV", "median": "median"}
_OFF_CONSOLE = EVERYWHERE - {Medium.CONSOLE}
_SHORT = 6
"""Remarks shown on a console; the report has all."""

_ORDER = (
    "One repetition is one unit: all messages of a cell produced, or consumed, by one library. A, B and the "
    "control (A's library once more) take turns in mirrored order, so that drift and order affect all alike; "
    "a first round is not counted. Cold counts from before the client is made; warm begins when a producer "
    "has had a message acked in that topic, and a consumer has read to its end. Values are made outside the "
    "measured time, producing ends when every message is acked, consuming counts from the assignment to the "
    "last expected message."
)
_FIXED = (
    "The ratio is the median of the repetitions' ratios A/B; its interval is a BCa bootstrap, widened for "
    "small samples. p is Wilcoxon's signed-rank test, corrected by Holm over all comparisons of the run. A "
    "verdict needs both; within the band of equivalence it is equivalent. No outlier is dropped."
)
_UNTIL_DECIDED = (
    "The ratio is the median of the repetitions' ratios A/B. Rounds were added where there was no verdict "
    "yet, so interval and p are of a kind that holds however often one looks: the interval is a 95% "
    "confidence sequence for the median, p is the inverse of what a bet against a ratio of 100% has won, "
    "corrected by Holm over all comparisons of the run. Both are wider than those of a number of repetitions "
    "fixed beforehand. A verdict needs both; within the band of equivalence it is equivalent. No outlier is "
    "dropped."
)


def show_compare(document: CompareDocument, tables: ResultTables) -> Shown:
    conditions, rows = document.comparison, document.comparisons
    repetitions = tables.tables[REPETITIONS.name].to_pylist()
    sections = [Section("Conditions", _conditions(conditions))]
    if conditions.until_decided:
        sections.append(Section("Until decided", [Notes(list(_decisions(rows)), Tone.PLAIN)]))
    if document.totals:
        sections.append(Section("Total execution time", [_total_table(document.totals, conditions)]))
    for operation, temperature, found in by_matrix(rows):
        mine = [r for r in repetitions if (r["operation"], r["temperature"]) == (operation, temperature)]
        name = f"{OPERATION_NAMES[operation]}, {temperature}"
        sections.append(_matrix_section(name, temperature, conditions, found, mine))
    sections += [Section("To know", _remarks(rows)), *_warm_ups(conditions), _settings(conditions)]
    files: dict[str, Callable[[], str | bytes]] = {
        f"csv/repetitions-{temperature}.csv": partial(repetitions_csv, document, tables, temperature)
        for temperature in TEMPERATURE_MEANINGS
    }
    return Shown(
        kicker="streamgauge comparison",
        title=document.name,
        run=document.run,
        badge=run_badge(document),
        verdicts=run_verdicts(document, {place_text(found): found for found in rows}),
        facts=[_verdict_fact(rows), _control_fact(rows)],
        sections=sections,
        about=[f"A {library_text(conditions.a)}", f"B {library_text(conditions.b)}"],
        reason=run_reason(document, len(rows), "comparisons"),
        reading=(_ORDER, _UNTIL_DECIDED if conditions.until_decided else _FIXED),
        files=files,
    )


def by_matrix(rows: list[Compared]) -> Iterator[tuple[str, str, dict[tuple[int, int], Compared]]]:
    """Operation, temperature, and the rows of that matrix by (messages, length), in the order of the rows."""
    for operation, temperature in dict.fromkeys((each.operation, each.temperature) for each in rows):
        found = {
            (each.messages, each.length): each
            for each in rows
            if (each.operation, each.temperature) == (operation, temperature)
        }
        yield operation, temperature, found


def _verdict_fact(rows: list[Compared]) -> Fact:
    tally = Counter(found.verdict.value for found in rows)
    judged = len(rows) - tally["inconclusive"]
    lines = [" · ".join(f"{count} {name}" for name, count in tally.most_common())]
    return Fact("Verdicts", f"{judged} of {len(rows)}", "decided", lines)


def _control_fact(rows: list[Compared]) -> Fact:
    tainted = sum(found.is_tainted for found in rows)
    line = (
        "A differs from itself there: those verdicts are not to be trusted."
        if tainted
        else "Nowhere was A found to differ from itself."
    )
    held = f"{len(rows) - tainted} of {len(rows)}"
    return Fact("A/A control", held, "held", [line], Tone.BAD if tainted else Tone.GOOD)


def _conditions(conditions: Conditions) -> list[Block]:
    process = "a process each" if conditions.process == "own" else "one process for all"
    parts = [
        f"{rounds_text(conditions)}, interleaved with an A/A control",
        f"preset {conditions.preset}",
        f"acks {conditions.acks}",
        process,
    ]
    return [
        Note(" · ".join(parts)),
        Notes([cause_text(note) for note in conditions.notes], Tone.WARN),
        Note(LEGEND),
    ]


def _decisions(rows: list[Compared]) -> Iterator[str]:
    """A line for each number of rounds, with all that it holds for."""
    places: dict[str, list[str]] = {}
    for found in rows:
        places.setdefault(decision_text(found), []).append(place_text(found))
    for said, where in places.items():
        yield f"{said}: {', '.join(where)}"


def _warm_ups(conditions: Conditions) -> list[Section]:
    """Of those that went on until a library was at rest."""
    if not conditions.warm_up:
        return []
    rows = []
    for found in conditions.warm_up:
        tone = Tone.PLAIN if found.ended is WarmUpEnding.AT_REST else Tone.WARN
        until = Cell(ENDING_WORDS[found.ended], tone)
        rows.append(row(side_name(found.side, conditions), found.messages, found.seconds, until))
    columns = [Column("side"), Column("messages", Unit.COUNT), Column("seconds", Unit.S), Column("ended")]
    note = "Before the first test, until successive blocks of the same number of messages take the same time."
    figure = warm_up_figure(conditions)
    blocks: list[Block] = [Table("Messages of each library", columns, rows, note)]
    return [Section("Warm-up", [*blocks, *([Figures([figure])] if figure else [])])]


def _total_table(totals: list[Total], conditions: Conditions) -> Table:
    columns = [
        Column("operation"),
        Column(f"A {conditions.a.name}", Unit.S),
        Column(f"B {conditions.b.name}", Unit.S),
        Column("A/B", Unit.NUMBER),
        Column("pairs", Unit.COUNT),
    ]
    rows = [
        row(
            "all" if total.operation == "all" else OPERATION_NAMES[total.operation],
            total.a_s,
            total.b_s,
            _percent(total.ratio_percent),
            total.pairs,
        )
        for total in totals
    ]
    note = (
        "The sum of all repetitions in which neither failed. It says how long the whole took, not which "
        "library is faster: the longest tests decide it."
    )
    return Table("Of all tests together", columns, rows, note, name="totals")


def _matrix_section(
    name: str,
    temperature: str,
    conditions: Conditions,
    found: dict[tuple[int, int], Compared],
    repetitions: list[Row],
) -> Section:
    cells = list(found.values())
    figures = [
        heat_map(f"{name}: A/B, median", conditions, found),
        repetitions_figure(f"{name}: every repetition", conditions, cells, repetitions),
    ]
    return Section(
        name,
        [
            Note(f"{TEMPERATURE_MEANINGS[temperature].capitalize()}."),
            Figures([figure for figure in figures if figure is not None]),
            _matrix("A/B %", conditions, found, _ratio_cell),
            _matrix("mean (SD) %", conditions, found, _mean_cell),
            _verdict_table(name, conditions, cells),
            _figure_table(name, conditions, cells),
        ],
    )


def _matrix(
    title: str,
    conditions: Conditions,
    found: dict[tuple[int, int], Compared],
    cell: Callable[[Compared], Cell],
) -> Table:
    columns = [
        Column("messages"),
        *(Column(bytes_text(length), Unit.NUMBER) for length in conditions.lengths),
    ]
    rows = []
    for messages in conditions.message_counts:
        cells = [found.get((messages, length)) for length in conditions.lengths]
        rows.append(row(count_text(messages), *(cell(each) if each else None for each in cells)))
    return Table(title, columns, rows, where=ON_CONSOLE | {Medium.MARKDOWN})


def _ratio_cell(found: Compared) -> Cell:
    interval = interval_text(found.interval_percent)
    text = f"{percent_text(found.ratio_percent.median)} {verdict_mark(found)} [{interval}]"
    return Cell(text, Tone.PLAIN if found.is_good else Tone.WARN)


def _mean_cell(found: Compared) -> Cell:
    ratios = found.ratio_percent
    return Cell(f"{percent_text(ratios.mean)} ({percent_text(ratios.sd)})")


def _verdict_table(name: str, conditions: Conditions, cells: list[Compared]) -> Table:
    columns = [
        Column("cell"),
        Column("verdict"),
        *([Column("rounds")] if conditions.until_decided else []),
        Column("integrity"),
        Column("validity"),
        Column("A/B", Unit.NUMBER),
        Column("95% interval", Unit.NUMBER),
        Column("p (Holm)", Unit.NUMBER),
        Column("detectable", Unit.NUMBER),
        Column("control", Unit.NUMBER),
        Column("CPU A", Unit.US),
        Column("CPU B", Unit.US),
        Column("JNI A", Unit.NUMBER),
        Column("JNI B", Unit.NUMBER),
    ]
    rows = []
    for found in cells:
        detectable = found.detectable_percent
        rows.append(
            row(
                cell_name(found),
                Cell(verdict_text(found, conditions), Tone.PLAIN if found.is_good else Tone.WARN),
                *([decision_text(found)] if conditions.until_decided else []),
                *verdict_cells(found)[1:],
                _percent(found.ratio_percent.median),
                interval_text(found.interval_percent),
                p_text(found.p),
                NOTHING if detectable is None else f"±{percent_text(detectable)}%",
                interval_text(found.control.interval_percent),
                found.cpu_us_per_message.a,
                found.cpu_us_per_message.b,
                found.jni_calls_per_message.a,
                found.jni_calls_per_message.b,
            )
        )
    title = f"{name}: verdicts. Below 100% A is faster; CPU in µs per message; JNI calls per message"
    return Table(title, columns, rows, where=ON_PAPER)


def _figure_table(name: str, conditions: Conditions, cells: list[Compared]) -> Table:
    columns = [Column("cell"), Column("count", Unit.COUNT)]
    columns += [Column(title, Unit.US) for title in _STATISTICS.values()]
    rows: list[TableRow] = []
    for found in cells:
        for library, times in ((conditions.a, found.a), (conditions.b, found.b)):
            humps = " ⁑" if times.is_two_humped else ""
            label = f"{cell_name(found)} · {library.name}{humps}"
            rows.append(row(label, times.count, *(_time(times, name) for name in _STATISTICS)))
        ratios = [_percent(getattr(found.ratio_percent, name)) for name in _STATISTICS]
        rows.append(row(f"{cell_name(found)} · A/B", found.pairs, *ratios, is_beside=True))
    title = f"{name}: times in µs, CV in %, and their ratios. ⁑ two humps"
    return Table(title, columns, rows, is_folded=True)


def _time(times: Times, name: str) -> float | None:
    value: float | None = times.cv_percent if name == "cv" else getattr(times, f"{name}_us")
    return value


def _remarks(rows: list[Compared]) -> list[Block]:
    missing = sum(found.accounting.missing for found in rows)
    expected = sum(found.accounting.expected for found in rows)
    counted = f"{count_text(missing)} missing of {count_text(expected)} messages"
    blocks: list[Block] = [Note(counted, Tone.BAD if missing else Tone.GOOD)]
    if calls := _calls(rows):
        blocks.append(Note(f"JNI: {calls}", Tone.PLAIN))
    for tone, kind in ((Tone.BAD, "integrity"), (Tone.WARN, "validity"), (Tone.WARN, "warnings")):
        said = [line for found in rows for line in _said(found, kind)]
        blocks.append(Notes(said, tone, where=_OFF_CONSOLE))
        more = [f"{len(said) - _SHORT} more of these: see the report"] if len(said) > _SHORT else []
        blocks.append(Notes([*said[:_SHORT], *more], tone, where=ON_CONSOLE))
    return blocks


def _said(found: Compared, kind: str) -> Iterator[str]:
    causes = found.warnings if kind == "warnings" else getattr(found, kind).causes
    for cause in causes:
        yield f"{place_text(found)}: {cause_text(cause)}"


def _calls(rows: list[Compared]) -> str:
    """The range over all rows, for each library that crosses into Java."""
    parts = []
    for side in ("a", "b"):
        for name, what in (("jni_calls_per_message", "JNI calls"), ("crossings_per_message", "calls across")):
            values = [getattr(getattr(found, name), side) for found in rows]
            known = [value for value in values if value is not None]
            if known:
                spread = f"{digits_text(min(known))} to {digits_text(max(known))}"
                parts.append(f"{side.upper()}: {spread} {what} a message")
    return " · ".join(parts)


def _settings(conditions: Conditions) -> Section:
    blocks: list[Block] = []
    titles = {True: "Settings with the same meaning", False: "Settings of one library alone"}
    for is_shared, title in titles.items():
        rows = [
            row(
                f"{setting.name}, {setting.role}",
                setting_text(setting.a, is_shared=is_shared),
                setting_text(setting.b, is_shared=is_shared),
            )
            for setting in conditions.settings
            if setting.is_shared == is_shared
        ]
        columns = [Column("setting"), Column(conditions.a.name), Column(conditions.b.name)]
        where = ON_PAPER if is_shared else ON_PAGE
        table = Table(f"{title}, as in force", columns, rows, is_folded=not is_shared, where=where)
        blocks.append(table)
    return Section("Settings in force", blocks, where=_OFF_CONSOLE)


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{percent_text(value)}%"
