"""What a page of `streamgauge transports` has too: transport-bench's tables, and all curves in one plot."""

from __future__ import annotations

from streamgauge.report.figures import curve, percentile_plot
from streamgauge.report.markup import Markup, data_table, tag
from streamgauge.report.old_shape import Document
from streamgauge.report.page_frame import place_figures
from streamgauge.report.plot_parts import Figure
from streamgauge.report.quantities import NOTHING
from streamgauge.report.result_tables import Row
from streamgauge.report.transport_text import (
    HARNESS_MEANS,
    HEADINGS,
    LEG,
    UNITS,
    by_transport,
    cells,
    is_paced,
    promises_text,
    rate_name,
    remarks,
    title,
)

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_COLOURS = 6


def transports_section(
    document: Document, histograms: dict[str, list[Row]], figures: dict[str, Figure]
) -> Markup:
    part = document["transports"]
    tables = []
    for about, rows in by_transport(part):
        said = f"{title(about, part)} · {about['system'] or NOTHING} · {promises_text(about['promises'])}"
        tables.append(data_table(said, HEADINGS, [cells(row) for row in rows], class_="overview"))
    notes = [tag("li", remark) for remark in remarks(part)]
    plots = place_figures(figures, "transports", [_curves(document, histograms)])
    return tag(
        "section",
        tag("h2", "Transports"),
        tag("p", UNITS, class_="note"),
        tag("p", HARNESS_MEANS, class_="note"),
        *tables,
        tag("ul", *notes) if notes else None,
        plots,
        class_="transports",
    )


def _curves(document: Document, histograms: dict[str, list[Row]]) -> Figure | None:
    """A colour for each transport, a dash for each rate; the harness is thin."""
    cases = [case for case in document["cases"] if case["latency_ms"][LEG]["count"] and is_paced(case)]
    names = list(dict.fromkeys(case["target"] for case in cases))
    rates = sorted({float(case["parameters"]["rate"]) for case in cases})
    measured = {about["transport"] for about in document["transports"]["transports"]}
    lines = []
    for case in cases:
        rows = [row for row in histograms[case["case"]] if row["leg"] == LEG]
        rate = float(case["parameters"]["rate"])
        style = {
            "color": f"var(--line-{names.index(case['target']) % _COLOURS + 1})",
            "width": 2 if case["target"] in measured else 1,
            "dash": _DASHES[rates.index(rate) % len(_DASHES)],
        }
        if rows:
            name = f"{case['target']} {rate_name(rate)}"
            lines.append(curve(rows, case["latency_ms"][LEG], name) | {"line": style})
    return percentile_plot("Latency by percentile, all transports and rates", lines)
