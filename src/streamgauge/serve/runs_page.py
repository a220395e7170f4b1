"""The list of runs: search, tags, what each came to, and a choice of several to compare."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from streamgauge.core.units import counted
from streamgauge.report.listed_runs import verdict_tone
from streamgauge.report.markup import Markup, data_table, join, tag
from streamgauge.report.quantities import NOTHING
from streamgauge.serve.frame import page, pill, run_path, title
from streamgauge.serve.requests import Answer
from streamgauge.serve.run_list import Row

SHOWN_AT_MOST = 200
_CHOICE = "Compare"
_OF_TEXT = ("Status", "Target", "Integrity", "Validity", "Objectives", "Tags")


def runs_page(
    rows: Sequence[Row],
    *,
    folder: str,
    asked: str,
    chosen_tag: str,
    tags: Sequence[str],
    shows_all: bool,
    may_start: bool,
) -> Answer:
    """`rows`: those that were asked for, newest first."""
    shown = rows if shows_all else rows[:SHOWN_AT_MOST]
    body: list[object] = [
        tag(
            "div",
            title("Runs", counted(len(rows), "run")),
            tag("p", "in ", tag("code", folder), class_="run-id"),
        ),
        _search(asked, chosen_tag, tags),
    ]
    if not rows:
        body.append(_nothing(asked or chosen_tag, may_start=may_start))
    else:
        body.append(_chosen(shown))
        if len(shown) < len(rows):
            link = "?" + urlencode({"q": asked, "tag": chosen_tag, "all": "1"})
            words = f"The newest {len(shown)} are shown. "
            body.append(tag("p", words, tag("a", f"Show all {len(rows)}", href=link), class_="note"))
    return page("Runs", body, here="/", class_="broad")


def _search(asked: str, chosen: str, tags: Sequence[str]) -> Markup:
    words = tag(
        "input", type="search", id="q", name_="q", value=asked, placeholder="name, target, tag, status …"
    )
    options = [tag("option", "all tags", value="")]
    options += [tag("option", each, value=each, selected=each == chosen or None) for each in tags]
    return tag(
        "form",
        tag("div", tag("label", "Search", for_="q"), words, class_="field grows"),
        tag(
            "div",
            tag("label", "Tag", for_="tag"),
            tag("select", *options, id="tag", name_="tag"),
            class_="field",
        )
        if tags
        else None,
        tag("button", "Search", type="submit", class_="quiet"),
        role="search",
        class_="row",
        action="/",
        method="get",
    )


def _nothing(was_asked: str, *, may_start: bool) -> Markup:
    if was_asked:
        return tag("p", "No run matches. ", tag("a", "Show all", href="/"), class_="about empty")
    start = tag("a", "Start one", href="/start") if may_start else "Start one"
    return tag(
        "p",
        "There are no runs yet. ",
        start,
        " with ",
        tag("code", "streamgauge run"),
        ".",
        class_="about empty",
    )


def _chosen(rows: Sequence[Row]) -> Markup:
    """A form around the table: what is ticked is compared."""
    columns = _columns(rows)
    header = [_heading(name) for name in columns]
    lines = list(zip(*columns.values(), strict=True))
    table = data_table("Runs, newest first", header, lines, class_="runs")
    button = tag("button", "Compare selected runs", type="submit")
    hint = tag("span", "Select two or more; the oldest is the base.", class_="note")
    tools = tag("div", button, hint, class_="row tools")
    return tag("form", tools, table, action="/compare", method="get", class_="choose")


def _heading(name: str) -> Markup:
    if name == _CHOICE:
        return tag("th", tag("span", name, class_="unseen"), scope="col", class_="choice")
    return tag("th", name, scope="col", class_="text" if name in _OF_TEXT else None)


def _columns(rows: Sequence[Row]) -> dict[str, list[Markup]]:
    """The same as in a console, and in the same order."""
    found = [row.listed for row in rows]
    told = {
        "Objectives": any(each.verdicts[2] != NOTHING for each in found),
        "Tags": any(each.tags for each in found),
    }
    columns = {
        "Run": [_name(row) for row in rows],
        _CHOICE: [_tick(row) for row in rows],
        "Status": [_cell("Status", _state(row), class_="state") for row in rows],
        "Target": [_cell("Target", each.target, class_="text") for each in found],
        "Rate": [_cell("Rate", each.rate) for each in found],
        "p50 ms": [_cell("p50 ms", each.p50_ms) for each in found],
        "p99 ms": [_cell("p99 ms", each.p99_ms) for each in found],
        "Integrity": [_verdict("Integrity", each.verdicts[0]) for each in found],
        "Validity": [_verdict("Validity", each.verdicts[1]) for each in found],
        "Objectives": [_verdict("Objectives", each.verdicts[2]) for each in found],
        "Cases": [_cell("Cases", each.cases) for each in found],
        "Age": [_cell("Age", each.age, class_="dim") for each in found],
        "Size": [_cell("Size", row.size, class_="dim") for row in rows],
        "Tags": [_cell("Tags", *map(_tag_link, each.tags), class_="text tags") for each in found],
    }
    return {name: cells for name, cells in columns.items() if told.get(name, True)}


def _cell(column: str, *content: object, class_: str | None = None) -> Markup:
    """Where there is no room for a table, a cell says itself what it is."""
    return tag("td", *content, class_=class_, data_label=column)


def _name(row: Row) -> Markup:
    name = row.listed.run.id
    return tag("a", name, href=run_path(name, "live") if row.is_running else run_path(name))


def _tick(row: Row) -> Markup:
    name = row.listed.run.id
    if row.is_running:
        return tag("td", class_="choice")
    tick = tag("input", type="checkbox", name_="tick", value=name, aria_label=f"compare {name}")
    return tag("td", tick, class_="choice")


def _state(row: Row) -> Markup:
    found = row.listed
    why = tag("span", found.why, class_="why") if found.why else None
    return join((pill("live" if row.is_running else found.state, found.tone), why))


def _verdict(column: str, word: str) -> Markup:
    if word == NOTHING:
        return _cell(column, NOTHING, class_="state dim")
    return _cell(column, tag("span", word, class_=f"{verdict_tone(word)}-text"), class_="state")


def _tag_link(name: str) -> Markup:
    return tag("a", name, href="?" + urlencode({"tag": name}), class_="tag")
