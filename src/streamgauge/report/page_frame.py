"""What every page has in common: the template around it, and places for figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from string import Template

from plotly.offline import get_plotlyjs

from streamgauge.report.markup import Markup, escape, join, script_json, tag
from streamgauge.report.plot_parts import Figure, Plot
from streamgauge.report.plotly_figures import plotly_figure


def filled_page(title: str, body: Iterable[Markup | None], figures: dict[str, Figure], reading: str) -> str:
    """The whole page; `reading` says at its end how to read it."""
    return Template(part("page.html")).substitute(
        title=escape(title),
        style=part("page.css"),
        body=join(body),
        reading=reading,
        figures=script_json({key: plotly_figure(figure) for key, figure in figures.items()}),
        plotly=get_plotlyjs(),
        script=part("page.js"),
    )


def place_figures(figures: dict[str, Figure], name: str, group: Sequence[Figure | None]) -> Markup:
    """Keep the figures under ids of their own, and leave room for them on the page."""
    places = []
    for number, figure in enumerate(group):
        if figure is None:
            continue
        key = f"{name}-{number}"
        figures[key] = figure
        scale = None
        if figure.y.scale == "log":
            scale = tag("button", "linear scale", type="button", class_="scale", data_scale=key)
        caption = tag("figcaption", tag("span", figure.title), scale)
        room = f"--entries:{len(figure.series) if isinstance(figure, Plot) else 1}"
        plot = tag("div", class_="plot", style=room, data_figure=key, role="img", aria_label=figure.title)
        note = tag("p", figure.note, class_="note") if figure.note else None
        places.append(tag("figure", caption, plot, note))
    return tag("div", *places, class_="plots")


def part(name: str) -> str:
    return resources.files("streamgauge.report").joinpath(name).read_text("utf-8")
