"""What every page has in common: the template around it, and places for figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from string import Template

from streamgauge.report.figure_values import figure_values
from streamgauge.report.figure_words import figure_words
from streamgauge.report.markup import Markup, escape, join, script_json, tag
from streamgauge.report.plot_parts import Figure, Plot
from streamgauge.report.plot_thinning import MOST_POINTS, thinned

_SCRIPTS = ("plot_scales.js", "plot_drawing.js", "plot_reading.js", "page.js")


def filled_page(title: str, body: Iterable[Markup | None], figures: dict[str, Figure], reading: str) -> str:
    """The whole page; `reading` says at its end how to read it."""
    return Template(part("page.html")).substitute(
        title=escape(title),
        style=part("page.css"),
        body=join(body),
        reading=reading,
        figures=script_json({key: figure_values(figure) for key, figure in figures.items()}),
        script=page_script(),
    )


def place_figures(
    figures: dict[str, Figure], name: str, group: Sequence[Figure | None], most_points: int = MOST_POINTS
) -> Markup:
    """Keep the figures under ids of their own, and leave room for them on the page."""
    places = []
    for number, whole in enumerate(group):
        if whole is None:
            continue
        key = f"{name}-{number}"
        figure = thinned(whole, most_points) if isinstance(whole, Plot) else whole
        figures[key] = figure
        scale = None
        if figure.y.scale == "log":
            scale = tag("button", "linear scale", type="button", class_="scale", data_scale_of=key)
        caption = tag("figcaption", tag("span", figure.title), scale)
        described = tag("p", figure_words(figure), id=f"{key}-words", class_="for-ears")
        note = tag("p", figure.note, class_="note") if figure.note else None
        places.append(tag("figure", caption, tag("div", class_="plot", data_figure=key), described, note))
    return tag("div", *places, class_="plots")


def page_script() -> str:
    return "\n".join(part(name) for name in _SCRIPTS)


def part(name: str) -> str:
    return resources.files("streamgauge.report").joinpath(name).read_text("utf-8")
