"""What there is to see of cases of messages: what e2e, sweep, limit and transports have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from streamgauge.report.case_document import Case, CasesDocument, Statistics
from streamgauge.report.case_section import case_section, percentile_cell
from streamgauge.report.cause_words import LIMIT_WORDS, limit_text
from streamgauge.report.document import by_case
from streamgauge.report.figures import side_by_side_figure
from streamgauge.report.hdr_files import hgrm_text, hlog_text
from streamgauge.report.many_cases import brief_on_page, whole_on_page
from streamgauge.report.medium import ON_CONSOLE, ON_PAPER, Medium, Tone
from streamgauge.report.parameters import load_sentence
from streamgauge.report.quantities import DOUBT, NOTHING, count_text, digits_text, ms_text, plural
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import Block, Fact, Figures, Notes, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, Unit, row
from streamgauge.report.verdict_show import (
    cause_blocks,
    outcome_cell,
    run_badge,
    run_reason,
    run_verdicts,
    verdict_cells,
)
from streamgauge.report.words import LEG_NAMES, fault_count, knob_columns
from streamgauge.tables.percentile_support import is_supported
from streamgauge.tables.results import HISTOGRAM

_COMPARED_AT_MOST = 12
"""More lines than this cannot be told apart, and their names would take the plot's room."""
_OPEN_AT_MOST = 3
"""With more cases than this all are folded, and the overview leads to them."""
_WHOLE_AT_MOST = 6
"""Of more cases than this the overview has to do on a console; the page has the rest."""

READING = (
    "Message k is due at start + k/rate, and latency runs from that intended time, so a stall counts for "
    "every message it delayed. Sent is taken before the hand-over to the client library, acked when its "
    "acknowledgement is seen, broker is the record's own timestamp (whole milliseconds), received when the "
    "consumer's code has it. Percentiles come from buckets within 0.05%; one with fewer than ten messages "
    "beyond it is marked with ~. No message and no negative latency is dropped.",
    "Integrity says whether every message is accounted for; validity says whether the figures may be quoted. "
    "A report is about one run: to compare two systems, compare several runs of each.",
)


def show_cases(
    document: CasesDocument,
    tables: ResultTables,
    *,
    kicker: str = "streamgauge report",
    answer: Fact | None = None,
    first: Sequence[Section] = (),
    has_overview: bool = True,
    counted: Sequence[Case] | None = None,
    are_folded: bool = False,
    compared_at_most: int = _COMPARED_AT_MOST,
) -> Shown:
    """`answer`: what the run was made to find out, where that is not a latency; `first`: sections above the
    cases; `counted`: the cases whose verdicts are the run's, when not all are."""
    cases = document.cases
    judged = by_case(cases if counted is None else counted)
    sections = list(first)
    whole = whole_on_page(cases)
    if len(cases) > 1 and has_overview:
        sections.append(overview_section(cases, tables, compared_at_most))
    for case in cases:
        is_open = len(cases) <= _OPEN_AT_MOST and not are_folded
        section = case_section(case, tables, is_open=is_open, is_alone=len(cases) == 1)
        section = section if case.case in whole else brief_on_page(section)
        on_console = len(cases) <= _WHOLE_AT_MOST and has_overview
        sections.append(section if on_console else _off_console(section))
    if len(cases) > _WHOLE_AT_MOST and has_overview:
        sections.append(_trouble(cases))
    subject = (
        f"{cases[0].driver} · {load_sentence(cases[0].parameters)}"
        if len(cases) == 1
        else plural(len(cases), "case")
    )
    return Shown(
        kicker=kicker,
        title=document.name,
        run=document.run,
        badge=run_badge(document),
        verdicts=run_verdicts(document, judged),
        facts=[answer or latency_fact(cases), accounting_fact(cases)],
        sections=sections,
        about=[subject],
        reason=run_reason(document, len(cases), "cases"),
        reading=READING,
    )


def _off_console(section: Section) -> Section:
    return Section(
        section.title,
        section.blocks,
        id=section.id,
        subtitle=section.subtitle,
        badges=section.badges,
        is_open=section.is_open,
        where=ON_PAPER - {Medium.CONSOLE},
    )


def _trouble(cases: list[Case]) -> Section:
    """Of many cases only those in trouble are told of one by one, on a console."""
    blocks: list[Block] = []
    for case in cases:
        for block in cause_blocks(case) if not case.is_good else ():
            if isinstance(block, Notes):
                blocks.append(Notes([f"case {case.case}: {item}" for item in block.items], block.tone))
    return Section("To know", blocks, where=ON_CONSOLE if blocks else frozenset())


def latency_fact(cases: list[Case]) -> Fact:
    known = [case for case in cases if case.main_latency.count]
    # Times to the ack are another thing: they stand here only when there is nothing else.
    known = [case for case in known if case.parameters.consumers] or known
    title = "Latency from the intended time"
    if not known:
        return Fact(title, NOTHING, lines=["No message has a latency."])
    tone = Tone.PLAIN if all(case.is_good for case in known) else Tone.WARN
    if len(known) > 1:
        p99 = [_doubted_digits(each) for each in sorted(known, key=lambda each: each.main_latency.p99 or 0.0)]
        worst = max(known, key=lambda case: case.main_latency.max or 0.0)
        lines = [
            f"lowest and highest of {len(known)} cases",
            f"max {ms_text(worst.main_latency.max)}, in case {worst.case}",
        ]
        return Fact(title, f"{p99[0]} – {p99[-1]}", "ms p99", lines, tone)
    [case] = known
    latency = case.main_latency
    lines = [
        f"p50 {digits_text(latency.p50)} · {_doubted(latency, 'p99_9', 'p99.9')}"
        f" · max {digits_text(latency.max)} ms",
        f"{LEG_NAMES[case.main_leg]}, {plural(latency.count, 'message')}, none dropped",
    ]
    if case.main_leg != "intended_to_received":
        # This leg does not know of a late send, so the lateness is said beside it.
        title = "Latency to the ack"
        lines.append(f"and sent itself after it was due: p99 {ms_text(case.schedule_lag_ms.p99)}")
    return Fact(title, _doubted_digits(case), "ms p99", lines, tone)


def _doubted_digits(case: Case) -> str:
    """The p99, marked where too few messages are behind it."""
    mark = "" if is_supported("p99", case.main_latency.count) else DOUBT
    return f"{mark}{digits_text(case.main_latency.p99)}"


def _doubted(latency: Statistics, name: str, label: str) -> str:
    mark = "" if is_supported(name, latency.count) else DOUBT
    return f"{label} {mark}{digits_text(getattr(latency, name))}"


def accounting_fact(cases: list[Case]) -> Fact:
    """How many faults in how many messages, and what limited the load."""
    sent = sum(case.accounting.sent for case in cases)
    faults = sum(fault_count(case) for case in cases)
    if len(cases) == 1:
        limit = limit_text(cases[0].bottleneck.limit, cases[0].bottleneck.cause)
    else:
        limits = Counter(
            LIMIT_WORDS[case.bottleneck.limit] if case.bottleneck.limit else "not known" for case in cases
        )
        limit = ", ".join(f"{name} ({count})" for name, count in limits.most_common(3))
    tone = Tone.WARN if not sent else Tone.BAD if faults else Tone.GOOD
    lines = [f"faults in {count_text(sent)} messages", f"Limit: {limit}"]
    return Fact("Faults", count_text(faults) if sent else NOTHING, "", lines, tone)


def overview_section(
    cases: list[Case], tables: ResultTables, compared_at_most: int = _COMPARED_AT_MOST
) -> Section:
    few = cases if len(cases) <= compared_at_most else []
    figure = side_by_side_figure([(case, tables.rows(HISTOGRAM, case.case)) for case in few])
    return Section("All cases", [overview_table(cases), Figures([figure] if figure else [])])


def overview_table(cases: list[Case]) -> Table:
    knobs = knob_columns(cases)
    has_objectives = any(case.objectives for case in cases)
    per_partition = all(case.parameters.streams == "per_partition" for case in cases)
    columns = [
        Column("case"),
        *(Column(name, Unit.TEXT if name == "target" else Unit.NUMBER) for name in knobs),
        *(Column(name, Unit.MS) for name in ("p50", "p99")),
        Column("p99.9", Unit.MS, is_spare=True),
        Column("max", Unit.MS),
        *_rate_columns(per_partition),
        Column("faults", Unit.COUNT),
        Column("status"),
        Column("integrity", is_spare=True),
        Column("validity"),
        *([Column("objectives", is_spare=True)] if has_objectives else []),
        Column("limit", is_spare=True),
    ]
    rows = [_overview_row(case, knobs, per_partition, has_objectives) for case in cases]
    title = "Latency in ms from the intended time (to the ack where there are no consumers)"
    return Table(title, columns, rows, name="overview")


def _rate_columns(per_partition: bool) -> list[Column]:
    """The rates that speak for cases: those of streams side by side, or of all."""
    if per_partition:
        return [Column("msg/s", Unit.PER_S), Column("KiB/s", Unit.NUMBER)]
    return [Column("sent/s", Unit.PER_S, is_spare=True), Column("received/s", Unit.PER_S)]


def _overview_row(
    case: Case, knobs: dict[str, dict[str, str]], per_partition: bool, has_objectives: bool
) -> TableRow:
    latency = case.main_latency
    faults = fault_count(case) if case.is_measured else None
    rates = (
        (case.delivery.messages_per_s, case.delivery.kib_per_s)
        if per_partition
        else (case.throughput.sent_messages_per_s, case.throughput.received_messages_per_s)
    )
    status, integrity, validity = verdict_cells(case)
    limit = case.bottleneck.limit
    return row(
        Cell(case.case, link=f"case-{case.case}"),
        *(values[case.case] for values in knobs.values()),
        *(percentile_cell(latency, name) for name in ("p50", "p99", "p99_9", "max")),
        *rates,
        Cell(faults, Tone.PLAIN if faults is None else Tone.BAD if faults else Tone.GOOD),
        status,
        integrity,
        validity,
        *([outcome_cell(case)] if has_objectives else []),
        None if limit is None else LIMIT_WORDS[limit],
    )


def histogram_files(document: CasesDocument, tables: ResultTables) -> dict[str, tuple[str, str]]:
    """Each paced case's histogram as the usual tools read it: name → (hlog, hgrm)."""
    files = {}
    for case in document.cases:
        rows = [r for r in tables.rows(HISTOGRAM, case.case) if r["leg"] == "intended_to_received"]
        rate = case.parameters.constant_rate
        if rows and rate is not None:
            name = f"{case.target}-{rate_name(rate)}-{case.case}"
            files[name] = (hlog_text(rows, case.range_s.sent or 0.0), hgrm_text(rows))
    return files


def rate_name(per_s: float) -> str:
    """1K, 25K."""
    return f"{per_s / 1000:g}K" if per_s >= 1000 else f"{per_s:g}"
