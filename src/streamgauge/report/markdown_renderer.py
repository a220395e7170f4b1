"""What there is to see, as Markdown, to be pasted somewhere."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.report.medium import Medium, Tone
from streamgauge.report.quantities import cell_text
from streamgauge.report.shown import (
    Block,
    Heading,
    Lines,
    Note,
    Notes,
    Pairs,
    Section,
    Shown,
    Tiles,
    blocks_for,
)
from streamgauge.report.shown_tables import Table, Unit


def shown_markdown(shown: Shown) -> str:
    return "\n".join(_lines(shown)) + "\n"


def _lines(shown: Shown) -> Iterator[str]:
    yield f"# {plain(shown.title)}"
    yield ""
    for said in (shown.answer, shown.since):
        if said is not None:
            yield f"**{plain(said.text)}**\n"
    yield f"Run `{shown.run}`: **{plain(shown.badge.text)}**." + (
        f" {plain(shown.reason)}" if shown.reason else ""
    )
    for line in shown.about:
        yield f"\n{plain(line)}"
    if shown.origin:
        yield "\n" + " · ".join(f"{plain(name)}: {plain(said)}" for name, said in shown.origin)
    yield ""
    for verdict in shown.verdicts:
        yield f"- {verdict.name}: **{plain(verdict.words)}**"
        yield from (f"  - {plain(line)}" for line in verdict.lines)
    if shown.facts:
        yield ""
    for fact in shown.facts:
        more = "; ".join(plain(line) for line in fact.lines)
        yield f"- {plain(fact.title)}: **{plain(f'{fact.figure} {fact.unit}'.strip())}**" + (
            f" ({more})" if more else ""
        )
    for section in shown.sections:
        if Medium.MARKDOWN in section.where:
            yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    badges = "".join(f" **{plain(badge.text)}**" for badge in section.badges)
    subtitle = f" {plain(section.subtitle)}" if section.subtitle else ""
    yield f"\n## {plain(section.title)}{subtitle}{badges}"
    for block in blocks_for(Medium.MARKDOWN, section.blocks):
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Heading):
        yield f"\n### {plain(block.text)}"
    elif isinstance(block, Note):
        yield f"\n{plain(block.text)}"
    elif isinstance(block, Notes):
        yield ""
        bold = "**" if block.tone in (Tone.WARN, Tone.BAD) else ""
        yield from (f"- {bold}{plain(item)}{bold}" for item in block.items)
    elif isinstance(block, Pairs):
        yield ""
        yield from (f"- {plain(name)}: {plain(' · '.join(items))}" for name, items in block.pairs)
    elif isinstance(block, Tiles):
        told = " · ".join(f"{tile.name} {tile.text}" for tile in block.tiles if tile.is_checked)
        yield f"\n{plain(block.title)}: {plain(told)}"
    elif isinstance(block, Lines):
        yield f"\n### {plain(block.title)}\n\n```"
        yield from block.lines
        yield "```"


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    yield f"\n**{plain(table.title)}**\n"
    yield f"| {' | '.join(plain(column.name) for column in table.columns)} |"
    marks = (" --- |" if column.unit is Unit.TEXT else " ---: |" for column in table.columns)
    yield f"|{''.join(marks)}"
    for row in table.rows:
        texts = [cell_text(cell, column.unit) for cell, column in zip(row.cells, table.columns, strict=True)]
        yield f"| {' | '.join(plain(text) for text in texts)} |"
    if table.note:
        yield f"\n*{plain(table.note)}*"


def plain(text: str) -> str:
    """Nothing that a reader of Markdown would take for markup."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
