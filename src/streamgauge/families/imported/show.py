"""What there is to see of an imported run."""

from __future__ import annotations

from streamgauge.families.imported.document import ImportedDocument, ToolCase, ToolInterval
from streamgauge.families.imported.tables import CURVES
from streamgauge.report.figures import nines, percentile_plot
from streamgauge.report.medium import Tone
from streamgauge.report.plot_parts import Axis, NumberText, Plot, Series, line_style, short
from streamgauge.report.quantities import NOTHING, digits_text, plural, rate_per_s_text
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.settings_text import by_path
from streamgauge.report.shown import Block, Fact, Figures, Pairs, Section, Shown
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row
from streamgauge.report.verdict_show import cause_blocks, outcome_cell, run_badge, run_verdicts, verdict_cells

_LAST_SHARE = 1 - 1e-6
"""The maximum has no place on an axis of nines: it is drawn there."""
_READING = (
    "These figures were measured by another tool, and are shown as it gave them. What it does not report is "
    "left empty: nothing is computed in its place. Whether messages were lost, and whether figures may be "
    "quoted, is not known, so neither verdict can be green.",
)


def show_imported(document: ImportedDocument, tables: ResultTables) -> Shown:
    sections = [_overview(document)]
    curves = _curves(document, tables)
    if curves is not None:
        sections.append(Section("Latency by percentile", [Figures([curves])]))
    sections += [_section(case) for case in document.cases]
    tools = ", ".join(dict.fromkeys(case.tool for case in document.cases))
    return Shown(
        kicker="streamgauge import",
        title=document.name,
        run=document.run,
        badge=run_badge(document),
        verdicts=run_verdicts(document, document.parts),
        facts=[_latency_fact(document.cases), _rate_fact(document.cases)],
        sections=sections,
        about=[f"measured by {tools}", plural(len(document.cases), "case")],
        reason=document.reason,
        reading=_READING,
    )


def _overview(document: ImportedDocument) -> Section:
    percentiles = list(
        dict.fromkeys(
            name for case in document.cases if case.main_latency for name in case.main_latency.percentiles
        )
    )
    percentiles.sort(key=lambda name: float(name[1:]))
    has_objectives = any(case.objectives for case in document.cases)
    columns = [
        Column("case"),
        Column("tool"),
        Column("latency", is_spare=True),
        Column("mean", Unit.MS),
        *(Column(name, Unit.MS) for name in percentiles),
        Column("max", Unit.MS),
        Column("rate", Unit.PER_S),
        Column("messages", Unit.COUNT, is_spare=True),
        Column("failed", Unit.COUNT, is_spare=True),
        Column("integrity", is_spare=True),
        Column("validity", is_spare=True),
        *([Column("objectives", is_spare=True)] if has_objectives else []),
    ]
    rows = []
    for case in document.cases:
        latency = case.main_latency
        named = latency.percentiles if latency else {}
        _, integrity, validity = verdict_cells(case)
        rows.append(
            row(
                Cell(case.case, link=f"case-{case.case}"),
                case.tool,
                latency.leg if latency else None,
                latency.mean if latency else None,
                *(named.get(name) for name in percentiles),
                latency.max if latency else None,
                case.rate_per_s,
                case.message_count,
                case.failed_count,
                integrity,
                validity,
                *([outcome_cell(case)] if has_objectives else []),
            )
        )
    return Section("What the tools said", [Table("Latency in ms", columns, rows, name="overview")])


def _section(case: ToolCase) -> Section:
    told = [(name, [str(value)]) for name, value in by_path(case.settings, ".").items()]
    about = [("file", [case.file]), ("format", [case.format]), ("version", [case.version or "not told"])]
    blocks: list[Block] = [Pairs([*about, *told]), *cause_blocks(case)]
    if len(case.latency_ms) > 1:
        blocks.append(_latency_table(case))
    if case.intervals:
        blocks.append(Figures(_interval_figures(case.intervals)))
    return Section(f"Case {case.case}: {case.tool}", blocks, id=f"case-{case.case}")


def _latency_table(case: ToolCase) -> Table:
    names = sorted(
        {name for each in case.latency_ms for name in each.percentiles}, key=lambda n: float(n[1:])
    )
    columns = [Column("latency"), Column("mean", Unit.MS), *(Column(name, Unit.MS) for name in names)]
    rows = [
        row(each.leg, each.mean, *(each.percentiles.get(name) for name in names), each.max)
        for each in case.latency_ms
    ]
    return Table("All latencies that it reported", [*columns, Column("max", Unit.MS)], rows)


def _curves(document: ImportedDocument, tables: ResultTables) -> Plot | None:
    lines = []
    for number, case in enumerate(document.cases):
        points = [
            (each["share"], each["value_ms"]) for each in tables.rows(CURVES, case.case) if each["place"] == 0
        ]
        if not points and case.main_latency:
            named = case.main_latency.percentiles.items()
            points = [(float(name[1:]) / 100, value) for name, value in named]
        points.sort()
        if len(points) > 1:
            lines.append(
                Series(
                    f"{case.case} {case.tool}",
                    [round(nines(min(share, _LAST_SHARE)), 4) for share, _ in points],
                    [short(value) for _, value in points],
                    line_style(number, 2),
                    told=NumberText("up to", 3, "ms"),
                    labels=[f"{100 * share:.6g}%" for share, _ in points],
                )
            )
    return percentile_plot("Latency by percentile, as the tools gave it", lines)


def _interval_figures(intervals: list[ToolInterval]) -> list[Plot]:
    figures = []
    for title, unit, fields in (
        ("Latency while it ran", "ms", {"mean": "mean_ms", "p99": "p99_ms", "max": "max_ms"}),
        ("Rate while it ran", "/s", {"rate": "rate_per_s"}),
    ):
        lines = [
            Series(
                name,
                [each.second for each in intervals],
                [getattr(each, field) for each in intervals],
                line_style(place, 2),
                told=NumberText("figures", 4, unit),
            )
            for place, (name, field) in enumerate(fields.items())
            if any(getattr(each, field) is not None for each in intervals)
        ]
        if lines:
            figures.append(Plot(title, lines, Axis("s"), Axis(unit, from_zero=True), reading="across"))
    return figures


def _latency_fact(cases: list[ToolCase]) -> Fact:
    title, known = "Latency, by another tool", [case for case in cases if case.main_latency]
    if not known:
        return Fact(title, NOTHING, lines=["No latency was reported."])
    told = [case.main_latency.percentiles.get("p99") for case in known if case.main_latency]
    p99 = sorted(value for value in told if value is not None)
    lines = list(
        dict.fromkeys(f"{case.tool}: {case.main_latency.leg}" for case in known if case.main_latency)
    )
    if not p99:
        return Fact(title, NOTHING, "ms p99", ["No p99 was reported.", *lines], Tone.WARN)
    ends = digits_text(p99[0]) if len(p99) == 1 else f"{digits_text(p99[0])} – {digits_text(p99[-1])}"
    return Fact(title, ends, "ms p99", lines, Tone.WARN)


def _rate_fact(cases: list[ToolCase]) -> Fact:
    rates = sorted(case.rate_per_s for case in cases if case.rate_per_s is not None)
    if not rates:
        return Fact("Rate", NOTHING, lines=["No rate is told."])
    ends = [rate_per_s_text(rate) for rate in dict.fromkeys((rates[0], rates[-1]))]
    return Fact("Rate", " – ".join(ends), lines=["messages or requests per second"], tone=Tone.WARN)
