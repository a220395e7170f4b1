"""What there is to see, on a console; it reads well in a file too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich import table as rich_table
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from streamgauge.report.medium import Medium, Tone
from streamgauge.report.quantities import NOTHING, cell_text
from streamgauge.report.shown import (
    Badge,
    Block,
    Lines,
    Note,
    Notes,
    Pairs,
    Section,
    Shown,
    Tiles,
    blocks_for,
)
from streamgauge.report.shown_tables import Cell, Column, Table, Unit

_STYLES = {Tone.PLAIN: "", Tone.GOOD: "green", Tone.WARN: "yellow", Tone.BAD: "red", Tone.QUIET: "dim"}
_LABEL_WIDTH, _GAP = 12, 2


def print_shown(shown: Shown, console: Console) -> None:
    heading = Text.assemble("Run ", (shown.run, "bold"), "  ", _badge(shown.badge))
    console.print(heading)
    if shown.answer is not None:
        console.print(Text(shown.answer.text, f"bold {_STYLES[shown.answer.tone]}".strip()))
    if shown.since is not None:
        console.print(Text(shown.since.text, _STYLES[shown.since.tone]))
    if shown.reason:
        console.print(Text(shown.reason, "red"))
    for line in shown.about:
        console.print(Text(line, "dim"))
    if shown.origin:
        console.print(Text(" · ".join(said for _, said in shown.origin), "dim"))
    console.print(_verdicts(shown))
    for section in shown.sections:
        if Medium.CONSOLE in section.where:
            _print_section(section, console)


def _verdicts(shown: Shown) -> rich_table.Table:
    grid = rich_table.Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(style="dim", width=_LABEL_WIDTH)
    grid.add_column(overflow="fold")
    for verdict in shown.verdicts:
        words = Text(verdict.words, f"bold {_STYLES[verdict.tone]}".strip())
        for line in verdict.lines:
            words.append(f"\n{line}", _STYLES[verdict.tone])
        grid.add_row(verdict.name.lower(), words)
    return grid


def _print_section(section: Section, console: Console) -> None:
    console.print()
    title = Text.assemble((section.title, "bold"))
    if section.subtitle:
        title.append(f" {section.subtitle}")
    for badge in section.badges:
        title = Text.assemble(title, "  ", _badge(badge))
    if section.id is None:
        console.print(title)
    else:
        console.print(Rule(title, align="left", style="dim"))
    for block in blocks_for(Medium.CONSOLE, section.blocks):
        _print_block(block, console)


def _print_block(block: Block, console: Console) -> None:
    if isinstance(block, Table):
        if block.rows:
            _print_table(block, console)
    elif isinstance(block, Note):
        console.print(Text(block.text, _STYLES[block.tone]))
    elif isinstance(block, Notes):
        for item in block.items:
            console.print(Padding(Text(f"• {item}", _STYLES[block.tone]), (0, 0, 0, 2)))
    elif isinstance(block, Pairs):
        console.print(_pairs(block.pairs, console.width - _LABEL_WIDTH - _GAP))
    elif isinstance(block, Tiles):
        items = [
            Text(f"{tile.name} {tile.text}", _STYLES[tile.tone] if tile.tone is not Tone.BAD else "bold red")
            for tile in block.tiles
            if tile.is_checked
        ]
        console.print(_pairs([(block.title.lower(), items)], console.width - _LABEL_WIDTH - _GAP))
    elif isinstance(block, Lines):
        console.print(Text(block.title, "bold"))
        for line in block.lines:
            console.print(Text(line))


def _print_table(table: Table, console: Console) -> None:
    console.print(Text(table.title, "italic"))
    if table.is_turned:
        console.print(_turned(table))
    else:
        console.print(_fitting(table, console.width))
    if table.note:
        console.print(Text(table.note, "dim"))


def _fitting(table: Table, width: int) -> rich_table.Table:
    """Spare columns go, from the last on, until it fits."""
    left_out: set[int] = set()
    spare = [place for place, column in enumerate(table.columns) if column.is_spare]
    while _width(table, left_out) > width and spare:
        left_out.add(spare.pop())
    made = _empty()
    for place, column in enumerate(table.columns):
        if place not in left_out:
            is_number = column.unit is not Unit.TEXT
            # Words may be broken between them; a number never.
            has_words = any(isinstance(row.cells[place].value, str) for row in table.rows)
            made.add_column(
                column.name, justify="right" if is_number else "left", no_wrap=is_number and not has_words
            )
    for row in table.rows:
        cells = [
            _cell(cell, table.columns[place]) for place, cell in enumerate(row.cells) if place not in left_out
        ]
        if row.is_beside:
            cells[0] = Text.assemble("  ", cells[0])
        made.add_row(*cells, style="dim" if row.is_beside else None)
    return made


def _width(table: Table, left_out: set[int]) -> int:
    kept = [place for place in range(len(table.columns)) if place not in left_out]
    return sum(
        2
        + max(
            len(table.columns[place].name),
            *(len(cell_text(row.cells[place], table.columns[place].unit)) for row in table.rows),
        )
        for place in kept
    )


def _turned(table: Table) -> rich_table.Table:
    """Rows as columns, their names broken where a − stands: so all of them fit 80 columns."""
    made = _empty()
    made.add_column(table.columns[0].name)
    for row in table.rows:
        made.add_column(str(row.cells[0].value).replace(" − ", "\n− "), justify="right", no_wrap=True)
    for place, column in enumerate(table.columns[1:], 1):
        made.add_row(column.name, *(_cell(row.cells[place], column) for row in table.rows))
    return made


def _empty() -> rich_table.Table:
    return rich_table.Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def _cell(cell: Cell, column: Column) -> Text:
    text = cell_text(cell, column.unit)
    if cell.is_pill:
        text = text.upper()
    style = "dim" if cell.is_doubtful else _STYLES[cell.tone]
    return Text(text, f"bold {style}".strip() if cell.is_pill else style)


def _pairs(pairs: Iterable[tuple[str, Sequence[str | Text]]], width: int) -> rich_table.Table:
    grid = rich_table.Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(style="dim", width=_LABEL_WIDTH)
    grid.add_column(overflow="fold")
    for name, items in pairs:
        grid.add_row(name, _wrapped(items, width))
    return grid


def _wrapped(items: Iterable[str | Text], width: int) -> Text:
    """Items on as many lines as they need; none is broken, so a number keeps its name and unit."""
    text, used = Text(), 0
    for item in items:
        if used and used + 3 + len(item) > width:
            text.append("\n")
            used = 0
        elif used:
            text.append(" · ")
            used += 3
        text.append(item)
        used += len(item)
    return text if text else Text(NOTHING)


def _badge(badge: Badge) -> Text:
    return Text(badge.text.upper(), f"bold {_STYLES[badge.tone]}".strip())
