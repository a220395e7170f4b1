"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

from streamgauge.report.comparison_page import render_comparison
from streamgauge.report.fanout_page import render_fanout
from streamgauge.report.figures import comparison_figure, percentile_figure
from streamgauge.report.limit_page import limit_fact, limit_section
from streamgauge.report.markup import Markup, tag
from streamgauge.report.old_shape import Document
from streamgauge.report.page_case import case_section
from streamgauge.report.page_environment import environment_section
from streamgauge.report.page_frame import filled_page, part, place_figures
from streamgauge.report.page_headline import header, overview_table
from streamgauge.report.plot_parts import Figure
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.report.sweep_figures import sweep_figures
from streamgauge.report.sweep_points import sweep_plot
from streamgauge.report.time_figures import (
    cpu_figure,
    latency_figure,
    memory_figure,
    schedule_lag_figure,
    throughput_figure,
    traffic_figure,
)
from streamgauge.report.transport_page import transports_section
from streamgauge.tables.results import HISTOGRAM, RESOURCES

_COMPARED_AT_MOST = 12
_OPEN_AT_MOST = 3
"""With more cases than this all are folded, and the overview leads to them."""


def render_page(document: Document, tables: ResultTables) -> str:
    if document["comparison"] is not None:
        return render_comparison(document, tables)
    if "fanout" in document:
        return render_fanout(document, tables)
    figures: dict[str, Figure] = {}
    cases = document["cases"]
    histograms = {case["case"]: tables.rows(HISTOGRAM, case["case"]) for case in cases}
    searched = document["limit"] is not None
    body: list[Markup | None] = [header(document, limit_fact(document) if searched else None)]
    if document["transports"] is not None:
        body.append(transports_section(document, histograms, figures))
    if searched:
        body.append(limit_section(document, figures))
    elif len(cases) > 1:
        # More lines than this cannot be told apart, and their names would take the plot's room.
        few = cases if len(cases) <= _COMPARED_AT_MOST else []
        comparison = comparison_figure([(case, histograms[case["case"]]) for case in few])
        plot = place_figures(figures, "all-cases", [comparison])
        body.append(tag("section", tag("h2", "All cases"), overview_table(cases), plot, class_="all-cases"))
        body.append(_sweep_section(document, figures))
    for case in cases:
        resources_of_case = tables.rows(RESOURCES, case["case"])
        plots = _plots(figures, case, histograms[case["case"]], resources_of_case)
        is_open = len(cases) <= _OPEN_AT_MOST and not searched
        body.append(case_section(case, plots, is_open=is_open, alone=len(cases) == 1 and not searched))
    body.append(environment_section(document["environment"]))
    return filled_page(f"{document['name']} · streamgauge", body, figures, part("reading_cases.html"))


def _sweep_section(document: Document, figures: dict[str, Figure]) -> Markup | None:
    """What a sweep is made for: how latency and throughput follow the knob that was turned."""
    plot = sweep_plot([document])
    if plot is None:
        return None
    places = place_figures(figures, "sweep", sweep_figures(plot))
    note = "Other knobs: streamgauge plot RUN --x KNOB. The folder plots has the same data for Gnuplot."
    return tag("section", tag("h2", f"By {plot.knob}"), places, tag("p", note, class_="note"), class_="sweep")


def _plots(
    figures: dict[str, Figure], case: Document, histogram: list[Row], resources_of_case: list[Row]
) -> dict[str, Markup]:
    groups = {
        "latency": [percentile_figure(case, histogram), latency_figure(case)],
        "load": [throughput_figure(case), schedule_lag_figure(case)],
        "resources": [
            cpu_figure(case, resources_of_case),
            memory_figure(case, resources_of_case),
            traffic_figure(case, resources_of_case),
        ],
    }
    return {name: place_figures(figures, f"{case['case']}-{name}", group) for name, group in groups.items()}
