"""The limit on the page: latency by rate as a curve, and a row for every rate."""

from __future__ import annotations

from streamgauge.report.limit_words import limit_sentence, missed_text, step_statistics, verdict_text
from streamgauge.report.markup import Markup, data_table, join, tag
from streamgauge.report.old_shape import Document
from streamgauge.report.page_frame import place_figures
from streamgauge.report.page_headline import fact
from streamgauge.report.plot_parts import Figure, plain, short, value_axis
from streamgauge.report.quantities import NOTHING, digits_text, plural, rate_per_s_text, s_text
from streamgauge.report.words import LIMIT_NAMES, limit_text

_LINES = {
    "p50": {"color": "var(--line-1)", "width": 2.5},
    "p99": {"color": "var(--line-2)", "width": 2.5},
    "p99_9": {"color": "var(--line-4)", "width": 1.5},
    "max": {"color": "var(--line-6)", "width": 1.25, "dash": "dot"},
}
_TONES = {True: "good", False: "bad", None: "warn"}


def limit_fact(document: Document) -> Markup:
    """The answer, at the top of the page."""
    limit = document["limit"]
    held, broken = limit["held_per_s"], limit["broken_per_s"]
    lines: list[object] = [
        f"hold {' and '.join(limit['slo'])}",
        None if broken is None else f"{rate_per_s_text(broken)} do not",
        f"Limit: {LIMIT_NAMES.get(limit['bottleneck']['limit'], 'not known')}",
    ]
    if held is None:
        return fact("Highest rate", NOTHING, "", [limit_sentence(limit), lines[2]], "bad")
    return fact("Highest rate", f"{held:,.0f}", "messages/s", lines, "good")


def limit_section(document: Document, figures: dict[str, Figure]) -> Markup:
    limit = document["limit"]
    places = place_figures(figures, "limit", [curve_figure(document)])
    trials = sum(len(step["trials"]) for step in limit["steps"])
    ended = (
        f"{plural(len(limit['steps']), 'rate')}, {plural(trials, 'trial')} in {s_text(limit['took_s'])}. "
        f"Ended: {limit['ending_reason']}."
    )
    return tag(
        "section",
        tag("h2", "The limit"),
        tag("p", limit_sentence(limit)),
        tag("p", f"Bottleneck: {limit_text(limit)}"),
        places,
        steps_table(document),
        tag("p", ended, class_="note"),
        class_="limit",
    )


def steps_table(document: Document) -> Markup:
    rows = []
    for step in document["limit"]["steps"]:
        statistics = step_statistics(document, step)
        cases = join(
            tag("span", tag("a", trial["case"], href=f"#case-{trial['case']}"), _mark_of(trial))
            for trial in step["trials"]
        )
        rows.append(
            (
                rate_per_s_text(step["rate_per_s"]),
                tag("td", _verdict(step), class_="state"),
                *(digits_text(statistics[name]) for name in _LINES),
                rate_per_s_text(statistics["delivered_per_s"]),
                tag("td", cases, class_="text"),
                tag("td", missed_text(step) or NOTHING, class_="text"),
            )
        )
    cases_column = tag("th", "cases", scope="col", class_="text")
    header = ("rate", "verdict", "p50", "p99", "p99.9", "max", "delivered", cases_column, "why not")
    caption = "Every rate that was tried. Latency in ms from the intended time; the worse trial that decided"
    return data_table(caption, header, rows, class_="overview")


def _verdict(step: Document) -> Markup:
    return tag("span", verdict_text(step), class_=f"pill {_TONES[step['holds']]}")


def _mark_of(trial: Document) -> str:
    return " ✓  " if trial["holds"] else " ✗  "


def curve_figure(document: Document) -> Figure | None:
    """A point for each rate; what was to hold and what was found as lines across."""
    steps = document["limit"]["steps"]
    found = [(step["rate_per_s"], step_statistics(document, step)) for step in steps]
    rates = [rate for rate, _ in found]
    lines = []
    for name, style in _LINES.items():
        values = [None if (value := statistics[name]) is None else short(value) for _, statistics in found]
        if any(value is not None for value in values):
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": name.replace("_", "."),
                    "x": rates,
                    "y": values,
                    "line": style,
                    "hovertemplate": "%{y:,.3~f} ms",
                }
            )
    if not lines:
        return None
    marks = [*_objectives(document, rates), *_bounds(document, lines)]
    return {
        "title": "Latency by rate, consumed − intended",
        "note": "The worse trial that decided a rate. Upright: highest that holds, lowest that breaks.",
        "data": [*lines, *marks],
        "layout": {
            "xaxis": {"title": {"text": "messages/s"}, "type": "log", "tickformat": ".3~s"},
            "yaxis": value_axis(lines, "ms"),
            "hovermode": "x unified",
        },
    }


def _objectives(document: Document, rates: list[float]) -> list[Figure]:
    """Those on latency, as level lines."""
    found = []
    for text in document["limit"]["slo"]:
        if not text.endswith("ms"):
            continue
        limit_ms = float(text.removesuffix("ms").rpartition("<")[2].removeprefix("="))
        found.append(_mark(text, [min(rates), max(rates)], [limit_ms, limit_ms], "var(--bad)", "dash"))
    return found


def _bounds(document: Document, lines: list[Figure]) -> list[Figure]:
    values = [value for line in lines for value in line["y"] if value is not None and value > 0]
    span = [min(values), max(values)] if values else [0.0, 1.0]
    bounds = (("held_per_s", "holds", "var(--good)"), ("broken_per_s", "does not", "var(--bad)"))
    return [
        _mark(f"{name} {rate_per_s_text(rate)}", [rate, rate], span, colour, "dot")
        for key, name, colour in bounds
        if (rate := document["limit"][key]) is not None
    ]


def _mark(name: str, x: list[float], y: list[float], colour: str, dash: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(name),
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 1.5, "dash": dash},
        "hoverinfo": "skip",
    }
