"""What there is to see of a fan-out: plots, the tables as published, and the statistics of every point."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from streamgauge.core.latency_block import latency_block
from streamgauge.families.fanout.document import FanoutDocument, FanoutFound, Point
from streamgauge.families.fanout.figures import fanout_plots
from streamgauge.families.fanout.point_names import clients_text, place_name
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS
from streamgauge.families.fanout.second_show import second_sections
from streamgauge.families.fanout.tables import fanout_tables, verdict_table
from streamgauge.report.cause_words import cause_text
from streamgauge.report.fault_show import fault_blocks
from streamgauge.report.medium import EVERYWHERE, ON_PAGE, ON_PAPER, Tone
from streamgauge.report.pictures import ENDINGS, pictures
from streamgauge.report.plot_parts import Plot
from streamgauge.report.quantities import count_text
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown import Block, Fact, Figures, Lines, Note, Notes, Section, Shown
from streamgauge.report.verdict_show import run_badge, run_reason, run_verdicts
from streamgauge.report.warm_up_figure import warm_up_figure

READING = (
    "Latency runs from the time a message was due to the time a client had decoded it. It is measured at "
    "clients drawn at random over the order of connecting; all other clients count their updates, and every "
    "update of every client is accounted for.",
    "A series ends at the first number of clients at which not everything was delivered, or the mean was "
    "above the limit; it is marked with x.",
)


def show_fanout(document: FanoutDocument, tables: ResultTables) -> Shown:
    fanout = document.fanout
    points = fanout.points
    held = [point for point in points if point.holds]
    sections = [
        Section("By clients", [Figures(list(fanout_plots(points).values()))], where=ON_PAGE),
        Section(
            "Points",
            [verdict_table(points), *_remarks(points), *_faults(points), Figures(_warm_ups(points))],
        ),
        Section("Tables", fanout_tables(fanout)),
        *second_sections(points, tables),
        Section("What was published", _published(fanout)),
        Section("Statistics", _blocks(document, tables)),
    ]
    return Shown(
        kicker="streamgauge fan-out",
        title=document.name,
        run=document.run,
        badge=run_badge(document),
        verdicts=run_verdicts(document, {place_name(point): point for point in held or points}),
        facts=[_most_fact(points, is_good=document.is_good), _missing_fact(held)],
        sections=sections,
        about=[f"Scenario {name}: {meaning}" for name, meaning in fanout.scenarios.items()],
        reason=run_reason(document, len(points), "points"),
        reading=READING,
        files=_pictures(points),
    )


def _warm_ups(points: list[Point]) -> list[Plot]:
    """Of those that went on until the load was at rest."""
    drawn = (warm_up_figure(point.warm_up_course, f"Warm-up, {place_name(point)}") for point in points)
    return [plot for plot in drawn if plot is not None]


def _faults(points: list[Point]) -> list[Block]:
    """Updates of measured clients: what the others missed is in the accounting, without its time."""
    blocks: list[Block] = []
    for point in points:
        heading = f"Faults, {place_name(point)}"
        blocks += fault_blocks(point.faults, heading, "An update to a measured client")
    return blocks


def _pictures(points: list[Point]) -> dict[str, Callable[[], str | bytes]]:
    plots = fanout_plots(points)
    drawn = cache(lambda name: pictures([plots[name]]))

    def content(name: str, ending: str) -> bytes:
        return drawn(name)[ending]

    return {
        f"plots/{name}-by-clients.{ending}": partial(content, name, ending)
        for name in plots
        for ending in ENDINGS
    }


def _most_fact(points: list[Point], *, is_good: bool) -> Fact:
    most: dict[str, int] = {}
    for point in points:
        if point.holds:
            most[point.series] = max(point.clients, most.get(point.series, 0))
    lines = [f"{series}: {clients:,}" for series, clients in most.items()]
    best = max(most.values(), default=0)
    tone = (Tone.GOOD if is_good else Tone.WARN) if most else Tone.BAD
    return Fact("Most clients that held", f"{best:,}", "clients", lines or ["no series held"], tone)


def _missing_fact(held: list[Point]) -> Fact:
    missing = sum(point.accounting.missing for point in held)
    expected = sum(point.accounting.expected for point in held)
    tone = Tone.BAD if missing else Tone.GOOD if expected else Tone.WARN
    lines = ["at the points that held"]
    if conflated := sum(point.accounting.conflated or 0 for point in held):
        lines.append(f"{conflated:,} more were conflated, as requested")
    return Fact("Missing", count_text(missing), f"of {expected:,} updates", lines, tone)


def _remarks(points: list[Point]) -> list[Block]:
    """Why points do not hold, and what to know of those that do."""
    blocks: list[Block] = []
    for point in points:
        faults = (*point.integrity.causes, *point.validity.causes)
        causes = faults if point.holds else (*faults, *point.notes)
        lines = [f"{place_name(point)}: {cause_text(cause)}" for cause in causes]
        blocks.append(Notes(lines, Tone.WARN))
    return blocks


def _published(fanout: FanoutFound) -> list[Block]:
    has_told = any(point.published.holds is not None for point in fanout.points)
    where = EVERYWHERE if has_told else ON_PAPER
    return [
        Note(f"As {fanout.published.hardware}. Slips of the published tables:", where=where),
        Notes(fanout.published.slips, Tone.PLAIN, where=where),
    ]


def _blocks(document: FanoutDocument, tables: ResultTables) -> list[Block]:
    """The statistics of every point; a console has room for the last of each series."""
    last = {point.series: point for point in document.fanout.points if point.samples}
    blocks: list[Block] = []
    for point in document.fanout.points:
        if not point.samples:
            continue
        counts = {row["latency_ms"]: row["count"] for row in tables.rows(LATENCY_COUNTS, point.case)}
        latency = point.latency_ms
        lines = latency_block(counts, document.fanout.duration_s, latency.mean, latency.sd)
        title = f"{point.series}, {clients_text(point.clients)} clients"
        blocks.append(Lines(title, lines, EVERYWHERE if last[point.series] is point else ON_PAPER))
    return blocks
