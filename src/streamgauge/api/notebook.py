"""What a notebook shows of a run, or of a difference: words and tables, no scripts."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.report.markup import Markup, data_table, escape, join, tag
from streamgauge.report.quantities import cell_text
from streamgauge.report.shown import Shown
from streamgauge.report.shown_tables import Table

_TABLES = 1
"""The first one says most; the report has the others."""


def shown_html(shown: Shown) -> str:
    head = tag("b", f"{shown.title} · {shown.run}")
    badge = tag("p", head, " ", escape(shown.badge.text))
    facts = [f"{fact.title}: {fact.figure} {fact.unit}".strip() for fact in shown.facts]
    verdicts = [f"{verdict.name}: {verdict.words}" for verdict in shown.verdicts]
    said = tag("ul", *(tag("li", line) for line in (*facts, *verdicts)))
    answer = [tag("p", shown.answer.text)] if shown.answer else []
    return str(join([tag("div", badge, *answer, said, *_tables(shown))]))


def _tables(shown: Shown) -> Iterator[Markup]:
    found = [block for section in shown.sections for block in section.blocks if isinstance(block, Table)]
    for table in found[:_TABLES]:
        rows = [
            [cell_text(cell, column.unit) for cell, column in zip(row.cells, table.columns, strict=True)]
            for row in table.rows
        ]
        yield data_table(table.title, [column.name for column in table.columns], rows)
