"""A sweep's plot in every form: SVG, PNG, a page, and the data with a script for Gnuplot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamgauge.report.gnuplot import gnuplot_data, gnuplot_script
from streamgauge.report.markup import Markup, data_table, tag
from streamgauge.report.old_shape import Document
from streamgauge.report.page_frame import filled_page, part, place_figures
from streamgauge.report.pictures import pictures
from streamgauge.report.plot_parts import Figure
from streamgauge.report.quantities import NOTHING, digits_text
from streamgauge.report.sweep_figures import sweep_figures
from streamgauge.report.sweep_points import SweepPlot, sweep_plot


def plot_files(documents: Sequence[Document], knob: str | None, *, with_page: bool) -> Mapping[str, bytes]:
    """Name → content of every file of the plot; empty when no knob was turned and none is named."""
    plot = sweep_plot(documents, knob)
    if plot is None:
        return {}
    files = {f"{plot.knob}.{ending}": content for ending, content in pictures(plot).items()}
    script = gnuplot_script(plot, f"{plot.knob}.dat", f"{plot.knob}-gnuplot.svg")
    files[f"{plot.knob}.dat"] = gnuplot_data(plot).encode()
    files[f"{plot.knob}.gp"] = script.encode()
    if with_page:
        files[f"{plot.knob}.html"] = _page(documents, plot).encode()
    return files


def points_table(plot: SweepPlot) -> Markup:
    """The plotted figures, for who wants to read them off."""
    rows = []
    for panel in plot.panels:
        for series, points in panel.points.items():
            for value in plot.values:
                if (point := points.get(value)) is None:
                    continue
                figures = (point.min_ms, point.mean_ms, point.max_ms, point.kib_per_s, point.messages_per_s)
                about = " · ".join(part for part in (series, panel.title) if part)
                rows.append((plot.label(value), tag("td", about, class_="text"), *map(digits_text, figures)))
    header = (plot.knob, "cluster", "min ms", "avg ms", "max ms", "KiB/s", "msg/s")
    caption = "Latency from the intended time; rates of streams side by side"
    return data_table(caption, header, rows, class_="overview")


def _page(documents: Sequence[Document], plot: SweepPlot) -> str:
    figures: dict[str, Figure] = {}
    runs = ", ".join(document["run"] for document in documents)
    head = tag(
        "header",
        tag("p", "streamgauge plot", class_="kicker"),
        tag("h1", f"By {plot.knob}"),
        tag("p", "Run ", tag("code", runs or NOTHING), class_="run-id"),
        *(tag("p", note, class_="run-reason") for note in plot.notes),
    )
    places = place_figures(figures, "sweep", sweep_figures(plot))
    title = f"By {plot.knob} · streamgauge"
    return filled_page(title, [head, places, points_table(plot)], figures, part("reading_cases.html"))
