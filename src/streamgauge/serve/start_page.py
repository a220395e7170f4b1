"""Starting a run: a workload as YAML, checked while it is written; and what a run that was started says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamgauge.report.listed_runs import age_text
from streamgauge.report.markup import Markup, tag
from streamgauge.serve.child_runs import ChildRun
from streamgauge.serve.frame import form, page, pill, run_path, title
from streamgauge.serve.requests import Answer
from streamgauge.serve.workload_text import MOST_BYTES

_TONES = {"running": "plain", "stopping": "warn", "stopped": "warn", "done": "good"}


def start_page(
    text: str,
    *,
    csrf: str,
    starters: Mapping[str, str],
    chosen: str = "",
    tags: str = "",
    faults: Sequence[str] = (),
    is_right: bool = False,
    children: Sequence[ChildRun] = (),
    now_s: float = 0.0,
) -> Answer:
    """`starters`: workloads to begin with, by what they are for; `faults`: what is wrong with the text."""
    area = tag(
        "textarea",
        text,
        id="workload",
        name_="workload",
        rows="22",
        spellcheck="false",
        autocapitalize="off",
        autocomplete="off",
        required=True,
        maxlength=str(MOST_BYTES),
        aria_describedby="faults",
        aria_invalid="true" if faults else None,
    )
    words = tag("input", id="tags", name_="tags", value=tags, placeholder="nightly, before-upgrade")
    body = [
        title("Start", "Start a run"),
        tag(
            "p",
            "A workload says what to send, and where. It runs on this machine, as with streamgauge run.",
            class_="about",
        ),
        _starters(starters, chosen),
        form(
            "/start",
            csrf,
            tag("div", tag("label", "Workload (YAML)", for_="workload"), area, class_="field"),
            _verdict(faults, is_right=is_right),
            tag("div", tag("label", "Tags, to find the run by", for_="tags"), words, class_="field"),
            tag(
                "div",
                tag("button", "Start the run", type="submit"),
                tag("button", "Check only", type="submit", name_="check", value="1", class_="quiet"),
                class_="row tools",
            ),
            id="start",
            class_="start",
        ),
        _children(children, now_s),
    ]
    return page("Start a run", body, here="/start")


def started_page(child: ChildRun, *, csrf: str) -> Answer:
    name = child.run_name()
    parts: list[object] = []
    if name:
        where = run_path(name, "live") if child.is_running else run_path(name)
        words = "Watch it live" if child.is_running else "See the run"
        parts.append(tag("a", words, href=where, class_="button", id="onward"))
    if child.is_running and not child.is_stopping:
        parts.append(stop_form(child, csrf))
    lead = f"Started run {child.number}"
    body = [
        title("Start", lead, " ", tag("span", pill(child.state, _tone(child)), id="state", role="status")),
        tag("p", name or _nameless(child), class_="run-id", id="run"),
        tag("div", *parts, class_="row tools"),
        tag("section", tag("h2", "Output"), _output(child.output()), class_="shown"),
        tag("details", tag("summary", "Workload"), tag("pre", child.workload), class_="fold"),
    ]
    return page(lead, [tag("div", *body, data_child=str(child.number), class_="started")], here="/start")


def _nameless(child: ChildRun) -> str:
    return "The run has no name yet." if child.is_running else "It ended before the run had a name."


def stop_form(child: ChildRun, csrf: str) -> Markup:
    return form(
        f"/started/{child.number}/stop",
        csrf,
        tag("button", "Stop the run", type="submit", class_="danger"),
        class_="inline",
    )


def child_state(child: ChildRun) -> dict[str, object]:
    """What its page asks for while it is open."""
    return {
        "state": child.state,
        "tone": _tone(child),
        "run": child.run_name(),
        "is_running": child.is_running,
        "output": child.output(),
    }


def _tone(child: ChildRun) -> str:
    return _TONES.get(child.state, "bad")


def _output(text: str) -> Markup:
    return tag(
        "pre", text or "nothing yet", id="output", tabindex="0", role="log", aria_label="Output of the run"
    )


def _starters(starters: Mapping[str, str], chosen: str) -> Markup | None:
    if not starters:
        return None
    options = [
        tag("option", words, value=name, selected=name == chosen or None) for name, words in starters.items()
    ]
    return tag(
        "form",
        tag(
            "div",
            tag("label", "Start from", for_="of"),
            tag("select", *options, id="of", name_="of"),
            class_="field grows",
        ),
        tag("button", "Load it", type="submit", class_="quiet"),
        action="/start",
        method="get",
        class_="row",
    )


def _verdict(faults: Sequence[str], *, is_right: bool) -> Markup:
    items = [tag("li", fault) for fault in faults]
    if items:
        return tag("div", tag("ul", *items, class_="reasons bad"), id="faults", role="status")
    words = tag("p", "This workload is valid.", class_="note good-note") if is_right else None
    return tag("div", words, id="faults", role="status")


def _children(children: Sequence[ChildRun], now_s: float) -> Markup | None:
    if not children:
        return None
    items = [
        tag(
            "li",
            tag("a", child.run_name() or f"started run {child.number}", href=f"/started/{child.number}"),
            " ",
            pill(child.state, _tone(child)),
            tag("span", f" {age_text(now_s - child.begun_s)} ago", class_="note"),
        )
        for child in children
    ]
    return tag("section", tag("h2", "Started here"), tag("ul", *items, class_="children"), class_="shown")
