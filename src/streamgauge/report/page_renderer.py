"""What there is to see, as one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote

from streamgauge.report.markup import Markup, data_table, join, tag
from streamgauge.report.medium import Medium, Tone
from streamgauge.report.page_environment import environment_section
from streamgauge.report.page_frame import filled_page, place_figures
from streamgauge.report.plot_parts import Figure
from streamgauge.report.plot_thinning import points_each
from streamgauge.report.quantities import cell_text
from streamgauge.report.shown import (
    Badge,
    Block,
    Fact,
    Figures,
    Heading,
    Lines,
    Link,
    Note,
    Notes,
    Pairs,
    Section,
    Shares,
    Shown,
    Tiles,
    Verdict,
    blocks_for,
)
from streamgauge.report.shown_tables import Cell, Column, Table, Unit

_DOUBTFUL = "too few messages for this percentile"


def render_page(shown: Shown, environment: dict[str, object] | None) -> str:
    """`environment`: None of what is of several runs."""
    figures: dict[str, Figure] = {}
    most_points = points_each(_figures_of(shown))
    body: list[Markup | None] = [_header(shown)]
    body += [
        _section(section, figures, f"s{number}", most_points)
        for number, section in enumerate(shown.sections)
        if Medium.PAGE in section.where
    ]
    body.append(_links(shown))
    if environment is not None:
        body.append(environment_section(environment))
    first, *rest = shown.reading or ("",)
    reading = [tag("p", tag("strong", "How to read this."), " ", first)] if first else []
    reading += [tag("p", paragraph) for paragraph in rest]
    return filled_page(f"{shown.title} · streamgauge", body, figures, join(reading))


def _header(shown: Shown) -> Markup:
    return tag(
        "header",
        tag("p", shown.kicker, class_="kicker"),
        tag("h1", shown.title, " ", _pill(shown.badge)),
        tag("p", shown.answer.text, class_=f"answer {shown.answer.tone}") if shown.answer else None,
        tag("p", shown.reason, class_="run-reason") if shown.reason else None,
        tag("p", shown.since.text, class_=f"since {shown.since.tone}-note") if shown.since else None,
        *(tag("p", line, class_="about") for line in shown.about),
        _origin(shown),
        tag(
            "div",
            *(_fact(fact) for fact in shown.facts),
            *(_verdict(verdict) for verdict in shown.verdicts),
            class_="facts",
        ),
    )


def _origin(shown: Shown) -> Markup:
    """Which run it is, and where it comes from."""
    pairs = (("run", tag("code", shown.run)), *shown.origin)
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", said)) for name, said in pairs), class_="origin")


def _links(shown: Shown) -> Markup | None:
    """To what lies beside the page, in the order in which people look for it."""
    if not shown.links:
        return None
    items = (tag("li", _link(link)) for link in shown.links)
    heading = tag("h2", "Files beside this page", id="files")
    return tag("section", heading, tag("ul", *items, class_="files"), aria_labelledby="files")


def _link(link: Link) -> Markup:
    return tag("a", link.text, href=quote(link.path))


def _fact(fact: Fact) -> Markup:
    return _card(fact.title, fact.figure, fact.unit, fact.lines, fact.tone, "figure")


def _verdict(verdict: Verdict) -> Markup:
    return _card(verdict.name, verdict.words, "", verdict.lines, verdict.tone, "figure words")


def _card(title: str, figure: str, unit: str, lines: Iterable[str], tone: Tone, class_: str) -> Markup:
    return tag(
        "section",
        tag("h2", title),
        tag("p", tag("span", figure, class_=class_), " ", tag("span", unit, class_="unit"), class_="big"),
        *(tag("p", line) for line in lines),
        class_=f"fact {tone}",
    )


def _figures_of(shown: Shown) -> Iterator[Figure]:
    for section in shown.sections:
        for block in blocks_for(Medium.PAGE, section.blocks):
            if isinstance(block, Figures):
                yield from block.figures


def _section(section: Section, figures: dict[str, Figure], key: str, most_points: int) -> Markup:
    blocks = [
        _block(block, figures, f"{key}-{number}", most_points)
        for number, block in enumerate(blocks_for(Medium.PAGE, section.blocks))
    ]
    pills = [_pill(badge) for badge in section.badges]
    subtitle = tag("span", section.subtitle, class_="case-title") if section.subtitle else None
    if section.is_open is None:
        heading = tag("h2", section.title, " ", subtitle, *pills)
        return tag("section", heading, *blocks, id=section.id, class_="shown", aria_label=section.title)
    summary = tag("summary", tag("h2", section.title, " ", subtitle), *pills)
    return tag("details", summary, *blocks, class_="case", id=section.id, open=section.is_open or None)


def _block(block: Block, figures: dict[str, Figure], key: str, most_points: int) -> Markup | None:
    if isinstance(block, Figures):
        return place_figures(figures, key, block.figures, most_points) if block.figures else None
    return _MADE[type(block)](block)


def _heading(block: Heading) -> Markup:
    return tag("h3", block.text)


def _note(block: Note) -> Markup:
    links = [part for link in block.links for part in (" ", _link(link))]
    return tag("p", block.text, *links, class_=f"note {block.tone}-note")


def _notes(block: Notes) -> Markup | None:
    items = (tag("li", item) for item in block.items)
    return tag("ul", *items, class_=f"reasons {block.tone}") if block.items else None


def _pairs(block: Pairs) -> Markup:
    items = (tag("div", tag("dt", name), tag("dd", " · ".join(said))) for name, said in block.pairs)
    return tag("dl", *items, class_="pairs")


def _lines(block: Lines) -> Markup:
    return tag("details", tag("summary", block.title), tag("pre", "\n".join(block.lines)), class_="fold")


def _tiles(block: Tiles) -> Markup:
    tiles = (
        tag(
            "div",
            tag("dt", tile.name),
            tag("dd", tile.text if tile.is_checked else "not checked", class_="count"),
            tag("dd", tile.meaning, class_="meaning"),
            class_=f"tile {tile.tone if tile.is_checked else 'unchecked'}",
        )
        for tile in block.tiles
    )
    return tag("div", tag("h3", block.title), tag("dl", *tiles, class_="tiles"))


def _shares(block: Shares) -> Markup:
    segments = (
        tag("span", class_=str(share.tone), style=f"flex-grow:{share.count}")
        for share in block.shares
        if share.count
    )
    bar = tag("div", *segments, class_="bar", role="img", aria_label=block.words)
    return tag("div", bar, tag("p", block.words, class_="note"))


def _table(table: Table) -> Markup | None:
    if not table.rows:
        return None
    header = [
        tag("th", column.name, scope="col", class_="text" if column.unit is Unit.TEXT else None)
        for column in table.columns
    ]
    rows = [
        (
            _plain_cell(found.cells[0], table.columns[0]),
            *(_td(cell, column) for cell, column in zip(found.cells[1:], table.columns[1:], strict=True)),
        )
        for found in table.rows
    ]
    classes = ["beside" if found.is_beside else None for found in table.rows]
    made = data_table(table.title, header, rows, class_="shown-table", row_classes=classes)
    note = tag("p", table.note, class_="note") if table.note else None
    if table.is_folded:
        summary = tag("summary", f"{table.title} ({len(table.rows)})")
        return tag("details", summary, made, note, class_="fold")
    return tag("div", made, note)


def _td(cell: Cell, column: Column) -> Markup:
    classes = [
        "text" if column.unit is Unit.TEXT and not cell.is_pill else None,
        "state" if cell.is_pill else None,
        "doubtful" if cell.is_doubtful else None,
        f"{cell.tone}-text" if cell.tone in (Tone.GOOD, Tone.BAD, Tone.WARN) and not cell.is_pill else None,
    ]
    named = " ".join(name for name in classes if name) or None
    title = _DOUBTFUL if cell.is_doubtful else None
    return tag("td", _plain_cell(cell, column), class_=named, title=title)


def _plain_cell(cell: Cell, column: Column) -> Markup | str:
    text = cell_text(cell, column.unit)
    if cell.is_pill:
        return _pill(Badge(text, cell.tone))
    return tag("a", text, href=f"#{cell.link}") if cell.link else text


def _pill(badge: Badge) -> Markup:
    return tag("span", badge.text, class_=f"pill {badge.tone}")


_MADE: dict[type[Block], Callable[[Any], Markup | None]] = {
    Table: _table,
    Heading: _heading,
    Note: _note,
    Notes: _notes,
    Tiles: _tiles,
    Shares: _shares,
    Pairs: _pairs,
    Lines: _lines,
}
