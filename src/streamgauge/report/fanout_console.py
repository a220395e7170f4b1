"""A fan-out on the console: the tables as published, and the statistics of every point that held."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.core.latency_block import latency_block
from streamgauge.report.fanout_tables import PUBLISHED, TextTable, clients_text, fanout_tables
from streamgauge.report.old_shape import Document
from streamgauge.report.result_tables import ResultTables
from streamgauge.tables.fanout_results import LATENCY_COUNTS

_BLOCKS = 1
"""Of each series, the last points whose statistics are printed; the report has all."""


def print_fanout(document: Document, console: Console) -> None:
    fanout = document["fanout"]
    for name, meaning in fanout["scenarios"].items():
        console.print(Text(f"scenario {name}: {meaning}", "dim"))
    for text_table in fanout_tables(fanout):
        console.print()
        console.print(Text(text_table.title, "bold"))
        console.print(_table(text_table))
        if text_table.note:
            console.print(Text(text_table.note, "dim"))
    console.print()
    told = [point["published"] for point in fanout["points"]]
    if any(beside["holds"] is not None for beside in told):
        console.print(Text(f"{fanout['published']['hardware']}.", "dim"))
        for slip in fanout["published"]["slips"]:
            console.print(Text(f"• {slip}", "dim"))
    for point in fanout["points"]:
        if point["holds"] is not True and point["reasons"]:
            place = f"{point['series']}, {clients_text(point['clients'])}"
            console.print(Text(f"✗ {place}: {'; '.join(point['reasons'])}", "yellow"))


def print_blocks(document: Document, tables: ResultTables, console: Console) -> None:
    """The statistics of the last point of each series that has samples."""
    last: dict[str, Document] = {}
    for point in document["fanout"]["points"]:
        if point["samples"]:
            last[point["series"]] = point
    for point in last.values():
        console.print()
        console.print(Text(f"{point['series']}, {point['clients']:,} clients", "bold"))
        for line in block_of(document, point, latency_counts_of(tables, point["case"])):
            console.print(Text(line))


def block_of(document: Document, point: Document, counts: Mapping[int, int]) -> list[str]:
    latency = point["latency_ms"]
    return latency_block(counts, document["fanout"]["duration_s"], latency["mean"], latency["sd"])


def latency_counts_of(tables: ResultTables, case: str) -> dict[int, int]:
    return {row["latency_ms"]: row["count"] for row in tables.rows(LATENCY_COUNTS, case)}


def _table(text_table: TextTable) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(text_table.header):
        table.add_column(name, justify="left" if number == 0 else "right")
    for row in text_table.rows:
        is_published = row[0] == PUBLISHED
        table.add_row(
            f"  {row[0]}" if is_published else row[0], *row[1:], style="dim" if is_published else None
        )
    return table
