"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

from importlib import resources
from string import Template

from plotly.offline import get_plotlyjs

from streamgauge.report.document import Document
from streamgauge.report.figures import comparison_figure, percentile_figure
from streamgauge.report.markup import Markup, escape, join, script_json, tag
from streamgauge.report.page_case import case_section
from streamgauge.report.page_environment import environment_section
from streamgauge.report.page_headline import header, overview_table
from streamgauge.report.plot_parts import Figure
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.report.time_figures import (
    cpu_figure,
    latency_figure,
    memory_figure,
    schedule_lag_figure,
    throughput_figure,
    traffic_figure,
)
from streamgauge.tables.results import HISTOGRAM, RESOURCES

_OPEN_AT_MOST = 3
"""With more cases than this all are folded, and the overview leads to them."""


def render_page(document: Document, tables: ResultTables) -> str:
    figures: dict[str, Figure] = {}
    cases = document["cases"]
    histograms = {case["case"]: tables.rows(HISTOGRAM, case["case"]) for case in cases}
    body = [header(document)]
    if len(cases) > 1:
        comparison = comparison_figure([(case, histograms[case["case"]]) for case in cases])
        plot = _place(figures, "all-cases", [comparison])
        body.append(tag("section", tag("h2", "All cases"), overview_table(cases), plot, class_="all-cases"))
    for case in cases:
        resources_of_case = tables.rows(RESOURCES, case["case"])
        plots = _plots(figures, case, histograms[case["case"]], resources_of_case)
        body.append(case_section(case, plots, is_open=len(cases) <= _OPEN_AT_MOST, alone=len(cases) == 1))
    body.append(environment_section(document["environment"]))
    return Template(_part("page.html")).substitute(
        title=escape(f"{document['name']} · streamgauge"),
        style=_part("page.css"),
        body=join(body),
        figures=script_json(figures),
        plotly=get_plotlyjs(),
        script=_part("page.js"),
    )


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
    return {name: _place(figures, f"{case['case']}-{name}", group) for name, group in groups.items()}


def _place(figures: dict[str, Figure], name: str, group: list[Figure | None]) -> Markup:
    """Keep the figures under ids of their own, and leave room for them on the page."""
    places = []
    for number, figure in enumerate(group):
        if figure is None:
            continue
        key = f"{name}-{number}"
        figures[key] = figure
        scale = None
        if figure["layout"]["yaxis"].get("type") == "log":
            scale = tag("button", "linear scale", type="button", class_="scale", data_scale=key)
        caption = tag("figcaption", tag("span", figure["title"]), scale)
        room = f"--entries:{len(figure['data'])}"
        plot = tag("div", class_="plot", style=room, data_figure=key, role="img", aria_label=figure["title"])
        note = tag("p", figure["note"], class_="note") if figure["note"] else None
        places.append(tag("figure", caption, plot, note))
    return tag("div", *places, class_="plots")


def _part(name: str) -> str:
    return resources.files("streamgauge.report").joinpath(name).read_text("utf-8")
