"""One run: what it came to, its tags, its files, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from streamgauge.report.markup import Markup, tag
from streamgauge.serve.frame import form, framed, page, pill, run_path, title
from streamgauge.serve.requests import Answer
from streamgauge.serve.run_list import Row


def run_page(
    row: Row,
    *,
    csrf: str,
    report_key: str,
    files: Sequence[str],
    before: str | None,
    has_report: bool,
    may_change: bool,
) -> Answer:
    """`before`: the run before it, to compare it with; `report_key`: opens its report."""
    found = row.listed
    name = found.run.id
    home = report_path(report_key, name)
    actions: list[object] = []
    if before is not None and has_report:
        query = urlencode({"run": [before, name]}, doseq=True)
        actions.append(tag("a", "Compare with the run before", href=f"/compare?{query}", class_="button"))
    if may_change:
        again = urlencode({"from": name})
        actions.append(tag("a", "Run it again", href=f"/start?{again}", class_="button"))
    if has_report:
        actions.append(tag("a", "Open report", href=home, class_="button", target="_blank", rel="noopener"))
    if files:
        actions.append(_files(files, home))
    head = tag(
        "div",
        title("Run", name, " ", pill(found.state, found.tone)),
        tag("p", found.why, class_="run-reason") if found.why else None,
        tag("div", *actions, class_="row tools"),
        _tags(name, found.tags, csrf, may_change=may_change),
        class_="run-head",
    )
    if not has_report:
        return page(name, (head, _no_report(name)))
    below = framed(home, f"Report of {name}", "allow-scripts allow-downloads", "Loading the report …")
    return page(name, (head, below), class_="wide")


def report_path(key: str, run: str, *pieces: str) -> str:
    return "/".join(("", "reports", key, quote(run, safe=""), *(quote(piece) for piece in pieces))) + (
        "" if pieces else "/"
    )


def _no_report(name: str) -> Markup:
    return tag(
        "p",
        "This run has no report yet. Analyse what was recorded with ",
        tag("code", f"streamgauge analyze {name}"),
        ".",
        class_="about empty",
    )


def _files(files: Sequence[str], home: str) -> Markup:
    links = (tag("li", tag("a", name, href=home + quote(name))) for name in files)
    return tag("details", tag("summary", "Files", class_="button"), tag("ul", *links), class_="menu")


def _tags(name: str, tags: Sequence[str], csrf: str, *, may_change: bool) -> Markup | None:
    if not may_change:
        shown = [tag("span", each, class_="tag") for each in tags]
        return tag("div", *shown, class_="row tags") if shown else None
    gone = [
        form(
            run_path(name, "tags"),
            csrf,
            tag("input", type="hidden", name_="remove", value=each),
            tag(
                "span",
                each,
                " ",
                tag("button", "×", type="submit", aria_label=f"remove tag {each}"),
                class_="tag",
            ),
            class_="inline",
        )
        for each in tags
    ]
    new = form(
        run_path(name, "tags"),
        csrf,
        tag("label", "New tag", for_="tag", class_="unseen"),
        tag("input", id="tag", name_="add", placeholder="new tag", maxlength="64", required=True, size="12"),
        tag("button", "Add", type="submit", class_="quiet"),
        class_="inline",
    )
    return tag("div", *gone, new, class_="row tags")
