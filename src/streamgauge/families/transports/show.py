"""What there is to see of transports: a table for each, and all curves in one plot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from streamgauge.families.transports.document import (
    SHOWN_PERCENTILES,
    Promises,
    Transport,
    TransportRow,
    TransportsDocument,
    TransportsFound,
)
from streamgauge.families.transports.published import HARDWARE, published_ms
from streamgauge.report.case_document import Case
from streamgauge.report.cases_show import histogram_files, rate_name, show_cases
from streamgauge.report.cause_words import INTEGRITY_WORDS, VALIDITY_WORDS, cause_text
from streamgauge.report.document import State
from streamgauge.report.figures import curve, percentile_plot
from streamgauge.report.medium import Tone
from streamgauge.report.plot_parts import DASHES, PALETTE_SIZE, Plot, Style
from streamgauge.report.quantities import NOTHING, digits_text
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import Figures, Note, Notes, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, Unit, row
from streamgauge.report.verdict_show import integrity_tone, validity_tone
from streamgauge.tables.percentile_support import is_supported
from streamgauge.tables.results import HISTOGRAM

UNITS = "Latency in ms, from when a message was due until it was parsed, including serialisation."
HARNESS_MEANS = (
    "Harness: the same messages at the same rate through memory only, in the same run. It shows what "
    "everything but the transport costs."
)
_LEG = "intended_to_received"


def show_transports(document: TransportsDocument, tables: ResultTables) -> Shown:
    found = document.transports
    figure = _curves(document, tables)
    told = list(remarks(document))
    section = Section(
        "Transports",
        [
            Note(UNITS),
            Note(HARNESS_MEANS),
            *(_table(about, found) for about in found.transports),
            Notes(told, Tone.WARN) if told else Notes([]),
            Figures([figure] if figure else []),
            _all_rows(found),
        ],
    )
    shown = show_cases(
        document,
        tables,
        kicker="streamgauge transports",
        first=[section],
        has_overview=False,
        are_folded=True,
    )
    files: dict[str, Callable[[], str | bytes]] = {}
    for name, (hlog, hgrm) in histogram_files(document, tables).items():
        files[f"histograms/{name}.hlog"] = partial(str, hlog)
        files[f"histograms/{name}.hgrm"] = partial(str, hgrm)
    return Shown(**{**vars(shown), "files": files})


def _table(about: Transport, found: TransportsFound) -> Table:
    engine = f", engine {found.engine}" if found.engine else ""
    title = f"Results ({about.transport}: driver {about.driver}{engine})"
    columns = [
        Column("RPS"),
        *(Column(name, Unit.FINE_MS) for name in SHOWN_PERCENTILES.values()),
        Column("max", Unit.FINE_MS),
        Column("lost", Unit.COUNT),
        Column("harness 50th", Unit.FINE_MS, is_spare=True),
        Column("harness 99th", Unit.FINE_MS, is_spare=True),
        Column("held"),
        Column("integrity", is_spare=True),
        Column("validity"),
    ]
    rows: list[TableRow] = []
    has_published = False
    for found_row in found.rows:
        if found_row.transport == about.transport:
            rows.append(_row(found_row))
            published = published_ms(about.transport, found_row.rate_per_s)
            if published is not None:
                has_published = True
                rows.append(_published_row(found_row.rate_per_s, published, len(columns)))
    note = f"{about.system or NOTHING} · {promises_text(about.promises)}"
    if has_published:
        note = f"{note}. {HARDWARE}"
    return Table(title, columns, rows, note=note)


def _published_row(rate_per_s: float, published: dict[str, float], width: int) -> TableRow:
    cells = [f"{rate_name(rate_per_s)} published", *(published.get(name) for name in SHOWN_PERCENTILES)]
    return row(*cells, *([None] * (width - len(cells))), is_beside=True)


def _row(found: TransportRow) -> TableRow:
    return row(
        rate_name(found.rate_per_s),
        *(_percentile(found, name) for name in SHOWN_PERCENTILES),
        found.max_ms,
        Cell(found.lost, Tone.BAD if found.lost else Tone.PLAIN) if found.messages else None,
        found.harness_p50_ms,
        found.harness_p99_ms,
        held_text(found),
        Cell(INTEGRITY_WORDS[found.integrity], integrity_tone(found.integrity)),
        Cell(VALIDITY_WORDS[found.validity], validity_tone(found.validity)),
    )


def _percentile(found: TransportRow, name: str) -> Cell:
    value = getattr(found, f"{name}_ms")
    return Cell(value, is_doubtful=value is not None and not is_supported(name, found.received))


def held_text(found: TransportRow) -> str:
    """Whether the messages were sent when they were due, and who could not keep up."""
    if found.held is None or found.sent_per_s is None:
        return found.status.value if found.status is not State.OK else NOTHING
    if found.held:
        return "held"
    share = f"{100 * found.sent_per_s / found.rate_per_s:.0f}%"
    return f"{share}: not even the harness" if found.harness_held is False else f"{share} of it"


def promises_text(promises: Promises | None) -> str:
    if promises is None:
        return "its promises are not known"
    return " · ".join(
        [
            "durable log" if promises.durable else "in memory only",
            "ordered" if promises.ordered else "no order",
            "acked by its server" if promises.acked else "no acks (fire and forget)",
        ]
    )


def remarks(document: TransportsDocument) -> Iterator[str]:
    """What must be known to read the tables, and what went wrong."""
    found = document.transports
    if (said := unlike(found)) is not None:
        yield said
    for about in found.transports:
        for note in about.notes:
            yield f"{about.transport}: {note}"
    by_case = {case.case: case for case in document.cases}
    for entry in found.rows:
        for reason in _reasons(entry, by_case[entry.case]):
            yield f"{entry.transport} at {rate_name(entry.rate_per_s)}: {reason}"


def _reasons(entry: TransportRow, case: Case) -> Iterator[str]:
    if entry.lost:
        # Of the measured messages, as the table has it; the verdict counts the warm-up, too.
        share = digits_text(100 * entry.lost / entry.messages)
        yield f"{entry.lost:,} of {entry.messages:,} measured messages never arrived ({share}%)"
    for cause in (*case.integrity.causes, *case.validity.causes, *case.notes):
        yield cause_text(cause)


def unlike(found: TransportsFound) -> str | None:
    """What must be said when transports with different promises stand in one report."""
    known = [(about.transport, about.promises) for about in found.transports if about.promises]
    keep = [name for name, promises in known if promises.durable]
    lose = [name for name, promises in known if not promises.durable]
    if not keep or not lose:
        return None
    return (
        f"Not alike: {', '.join(keep)} (durable) and {', '.join(lose)} (nothing is kept). "
        "Their latencies are the price of different promises."
    )


def _all_rows(found: TransportsFound) -> Table:
    """Every figure of every row, unrounded, as a file."""
    names = list(TransportRow.model_fields)
    promises = {about.transport: about.promises for about in found.transports}
    columns = [Column(name) for name in (*names, "engine", *Promises.model_fields)]
    rows = []
    for entry in found.rows:
        own = promises[entry.transport]
        content = entry.model_dump(mode="json")
        promised = [getattr(own, name, None) for name in Promises.model_fields]
        rows.append(row(*(content[name] for name in names), found.engine, *promised))
    return Table("Transports", columns, rows, name="transports", where=frozenset())


def _curves(document: TransportsDocument, tables: ResultTables) -> Plot | None:
    """A colour for each transport, a dash for each rate; the harness is thin."""
    cases = [
        (case, case.parameters.constant_rate)
        for case in document.cases
        if case.latency_ms.intended_to_received.count and case.parameters.constant_rate is not None
    ]
    names = list(dict.fromkeys(case.target for case, _ in cases))
    rates = sorted({rate for _, rate in cases if rate is not None})
    measured = {about.transport for about in document.transports.transports}
    lines = []
    for case, rate in cases:
        rows = [found for found in tables.rows(HISTOGRAM, case.case) if found["leg"] == _LEG]
        if not rows or rate is None:
            continue
        style = Style(
            names.index(case.target) % PALETTE_SIZE,
            2 if case.target in measured else 1,
            DASHES[rates.index(rate) % len(DASHES)],
        )
        name = f"{case.target} {rate_name(rate)}"
        lines.append(curve(rows, case.latency_ms.intended_to_received, name, style))
    return percentile_plot("Latency by percentile, all transports and rates", lines)
