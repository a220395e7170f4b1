"""Tables that are files of their own: every digit, and no words for what is not known.

Where people see a mark at a figure with too little behind it, a program reads its column's name in the last
column, `doubtful`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from streamgauge.report.shown import Shown
from streamgauge.report.shown_tables import Cell, Table, TableRow
from streamgauge.tables.percentile_support import DOUBTFUL


def shown_csv(shown: Shown) -> dict[str, str]:
    """File name → content."""
    return {f"{table.name}.csv": table_csv(table) for table in _named(shown)}


def _named(shown: Shown) -> Iterator[Table]:
    for section in shown.sections:
        for block in section.blocks:
            if isinstance(block, Table) and block.name is not None:
                yield block


def table_csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(column.name for column in table.columns), DOUBTFUL])
    writer.writerows([*map(_value, row.cells), _doubtful(table, row)] for row in table.rows)
    return text.getvalue()


def _doubtful(table: Table, row: TableRow) -> str:
    named = zip(table.columns, row.cells, strict=True)
    return ";".join(column.name for column, cell in named if cell.is_doubtful)


def _value(cell: Cell) -> object:
    if cell.value is None:
        return ""
    return str(cell.value).lower() if isinstance(cell.value, bool) else cell.value
