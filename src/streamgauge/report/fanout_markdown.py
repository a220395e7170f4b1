"""A fan-out as Markdown: the tables and the statistics of every point, to be pasted somewhere."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.report.fanout_console import block_of, latency_counts_of
from streamgauge.report.fanout_tables import clients_text, fanout_tables
from streamgauge.report.old_shape import Document
from streamgauge.report.result_tables import ResultTables


def fanout_markdown(document: Document, tables: ResultTables) -> str:
    return "\n".join(_lines(document, tables)) + "\n"


def _lines(document: Document, tables: ResultTables) -> Iterator[str]:
    fanout = document["fanout"]
    yield f"# {document['name']}: {document['run']}"
    for name, meaning in fanout["scenarios"].items():
        yield f"\nScenario {name}: {meaning}."
    for table in fanout_tables(fanout):
        yield f"\n## {table.title}\n"
        yield f"| {' | '.join(table.header)} |"
        yield f"|{' --- |' * len(table.header)}"
        yield from (f"| {' | '.join(row)} |" for row in table.rows)
        if table.note:
            yield f"\n*{table.note}*"
    yield f"\nBeside: {fanout['published']['hardware']}."
    yield from (f"- {slip}" for slip in fanout["published"]["slips"])
    for point in fanout["points"]:
        if point["samples"]:
            yield f"\n## {point['series']}, {clients_text(point['clients'])} clients\n\n```"
            yield from block_of(document, point, latency_counts_of(tables, point["case"]))
            yield "```"
