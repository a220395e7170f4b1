"""What a knob does, in every form: SVG, PNG, a page, and the data with a script for Gnuplot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamgauge.report.cases_show import READING
from streamgauge.report.document import Document
from streamgauge.report.gnuplot import gnuplot_data, gnuplot_script
from streamgauge.report.knob_figures import knob_figures
from streamgauge.report.knob_points import KnobPlot, knob_plot
from streamgauge.report.medium import Tone
from streamgauge.report.page_renderer import render_page
from streamgauge.report.pictures import pictures
from streamgauge.report.quantities import NOTHING
from streamgauge.report.shown import Badge, Figures, Notes, Section, Shown
from streamgauge.report.shown_tables import Column, Table, Unit, row


def plot_files(documents: Sequence[Document], knob: str | None, *, with_page: bool) -> Mapping[str, bytes]:
    """Name → content of every file of the plot; empty when no knob was turned and none is named."""
    plot = knob_plot(documents, knob)
    if plot is None:
        return {}
    drawn = pictures(knob_figures(plot), " ".join(plot.notes))
    files = {f"{plot.knob}.{ending}": content for ending, content in drawn.items()}
    script = gnuplot_script(plot, f"{plot.knob}.dat", f"{plot.knob}-gnuplot.svg")
    files[f"{plot.knob}.dat"] = gnuplot_data(plot).encode()
    files[f"{plot.knob}.gp"] = script.encode()
    if with_page:
        files[f"{plot.knob}.html"] = _page(documents, plot).encode()
    return files


def points_table(plot: KnobPlot) -> Table:
    """The plotted figures, for who wants to read them off."""
    rows = []
    for panel in plot.panels:
        for series, points in panel.points.items():
            for value in plot.values:
                if (point := points.get(value)) is None:
                    continue
                figures = (point.min_ms, point.mean_ms, point.max_ms, point.kib_per_s, point.messages_per_s)
                about = " · ".join(part for part in (series, panel.title) if part)
                rows.append(row(plot.label(value), about, *figures))
    columns = [
        Column(plot.knob),
        Column("target"),
        *(Column(f"{name} ms", Unit.MS) for name in ("min", "mean", "max")),
        Column("KiB/s", Unit.NUMBER),
        Column("msg/s", Unit.NUMBER),
    ]
    return Table(plot.latency_words, columns, rows)


def _page(documents: Sequence[Document], plot: KnobPlot) -> str:
    is_good = all(document.is_good for document in documents)
    shown = Shown(
        kicker="streamgauge plot",
        title=f"By {plot.knob}",
        run=", ".join(document.run for document in documents) or NOTHING,
        badge=Badge("ok", Tone.GOOD) if is_good else Badge("see the runs' verdicts", Tone.WARN),
        verdicts=[],
        facts=[],
        sections=[Section("Plots", [Notes(plot.notes), Figures(knob_figures(plot)), points_table(plot)])],
        reading=READING if plot.is_ours else (),
    )
    return render_page(shown, {})
