"""The page of a run in progress; what it shows comes by itself, second by second (`live.js`)."""

from __future__ import annotations

from streamgauge.report.markup import Markup, tag
from streamgauge.serve.child_runs import ChildRun
from streamgauge.serve.frame import page, pill, run_path, title
from streamgauge.serve.requests import Answer
from streamgauge.serve.start_page import stop_form

_LINES = (
    ("rates", "Messages per second", (("1", "sent"), ("2", "received"))),
    ("latencies", "Latency from the intended send, ms", (("1", "p50"), ("2", "p99"), ("4", "max"))),
    ("cores", "CPU, cores", (("3", "agents"), ("5", "systems"))),
)


def live_page(name: str, child: ChildRun | None, *, csrf: str) -> Answer:
    """`child`: the process, if it was started here; else it is not ours to stop."""
    tools: list[object] = []
    if child is not None:
        if child.is_running and not child.is_stopping:
            tools.append(stop_form(child, csrf))
        tools.append(tag("a", "Output", href=f"/started/{child.number}", class_="button"))
    head = (
        title("Live", name, " ", tag("span", pill("waiting", "plain"), id="state")),
        tag(
            "p",
            "waiting for the first figures",
            id="stage",
            class_="about",
            role="status",
            aria_live="polite",
        ),
        tag("progress", id="progress", max="1", aria_label="How far the case is"),
        tag("div", *tools, class_="row tools") if tools else None,
        tag("dl", id="facts", class_="tiles"),
    )
    plots = [_plot(*line) for line in _LINES]
    rest = (
        tag("section", tag("h2", "CPU and memory"), tag("div", id="resources"), class_="shown"),
        tag(
            "p",
            "Agents report about once a second; the warm-up is included. What was lost, came twice or out of "
            "order is known when the run is over: results come from the recorded events.",
            class_="note",
        ),
        tag("noscript", tag("p", "This page needs JavaScript to follow the run.", class_="note")),
    )
    body = tag(
        "div",
        *head,
        tag("div", *plots, class_="plots"),
        *rest,
        data_live=run_path(name, "live", "events"),
        data_run=run_path(name),
        class_="live",
    )
    return page(f"{name} live", [body], script="live.js")


def _plot(key: str, words: str, lines: tuple[tuple[str, str], ...]) -> Markup:
    legend = [
        tag("span", tag("i", class_=f"key line-{number}", aria_hidden="true"), text) for number, text in lines
    ]
    caption = tag("figcaption", tag("span", words, id=f"{key}-title"), tag("span", *legend, class_="legend"))
    return tag("figure", caption, tag("div", id=key, class_="live-plot"))
