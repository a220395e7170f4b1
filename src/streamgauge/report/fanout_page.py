"""The page of a fan-out: plots, the tables as published, and the statistics of every point."""

from __future__ import annotations

from streamgauge.report.fanout_console import block_of, latency_counts_of
from streamgauge.report.fanout_figures import fanout_figures
from streamgauge.report.fanout_tables import TextTable, clients_text, fanout_tables
from streamgauge.report.markup import Markup, data_table, tag
from streamgauge.report.old_shape import Document
from streamgauge.report.page_environment import environment_section
from streamgauge.report.page_frame import filled_page, part, place_figures
from streamgauge.report.page_headline import fact, status_pill
from streamgauge.report.plot_parts import Figure
from streamgauge.report.quantities import NOTHING
from streamgauge.report.result_tables import ResultTables


def render_fanout(document: Document, tables: ResultTables) -> str:
    fanout = document["fanout"]
    figures: dict[str, Figure] = {}
    body: list[Markup | None] = [_header(document)]
    plots = place_figures(figures, "fanout", fanout_figures(fanout))
    body.append(tag("section", tag("h2", "By clients"), plots, class_="all-cases"))
    body.append(tag("section", tag("h2", "Tables"), *map(_table, fanout_tables(fanout)), class_="matrix"))
    body.append(_published(fanout))
    body.append(_blocks(document, tables))
    body.append(environment_section(document["environment"]))
    return filled_page(f"{document['name']} · streamgauge", body, figures, part("reading_fanout.html"))


def _header(document: Document) -> Markup:
    fanout = document["fanout"]
    about = [
        tag("p", f"Scenario {name}: {words}", class_="about") for name, words in fanout["scenarios"].items()
    ]
    return tag(
        "header",
        tag("p", "streamgauge fan-out", class_="kicker"),
        tag("h1", document["name"], " ", status_pill(document["status"])),
        *about,
        tag("p", "Run ", tag("code", document["run"]), class_="run-id"),
        tag("p", document["reason"], class_="run-reason") if document["reason"] else None,
        tag("div", _most_fact(fanout["points"]), _missing_fact(fanout["points"]), class_="facts"),
    )


def _most_fact(points: list[Document]) -> Markup:
    most: dict[str, int] = {}
    for point in points:
        if point["holds"]:
            most[point["series"]] = max(point["clients"], most.get(point["series"], 0))
    best = max(most.values(), default=0)
    lines = [f"{series}: {clients:,}" for series, clients in most.items()]
    return fact("Most clients that held", f"{best:,}" if best else NOTHING, "clients", [*lines])


def _missing_fact(points: list[Document]) -> Markup:
    held = [point["accounting"] for point in points if point["holds"]]
    missing, expected = (sum(counts[name] for counts in held) for name in ("missing", "expected"))
    return fact("Missing", f"{missing:,}", f"of {expected:,} updates", ["at the points that held"])


def _table(table: TextTable) -> Markup:
    found = data_table(table.title, table.header, table.rows, class_="figures")
    return tag("div", found, tag("p", table.note, class_="note") if table.note else None)


def _published(fanout: Document) -> Markup:
    slips = [tag("li", slip) for slip in fanout["published"]["slips"]]
    return tag(
        "section",
        tag("h2", "What was published"),
        tag("p", f"As {fanout['published']['hardware']}."),
        tag("p", "Slips of the published tables:"),
        tag("ul", *slips),
        class_="matrix",
    )


def _blocks(document: Document, tables: ResultTables) -> Markup:
    parts = []
    for point in document["fanout"]["points"]:
        if not point["samples"]:
            continue
        lines = block_of(document, point, latency_counts_of(tables, point["case"]))
        name = f"{point['series']}, {clients_text(point['clients'])} clients"
        parts.append(tag("details", tag("summary", name), tag("pre", "\n".join(lines))))
    return tag("section", tag("h2", "Statistics"), *parts, class_="matrix")
