"""Rows of tables that are here already, as one file. It needs no Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamgauge.core.run_dir import RunDir
from streamgauge.tables.column import Table

_ONE_FILE = "part-00000.parquet"


def is_ordered(rows: pa.Table) -> bool:
    """Whether sorting by all columns would leave them as they are, for certain: messages of a case come in
    order, and looking costs a twentieth of sorting. A column is looked at only where those before it tie."""
    if rows.num_rows < 2:
        return True
    tied: pa.ChunkedArray | pa.Array = pa.array(np.ones(rows.num_rows - 1, bool))
    for column in rows.columns:
        if column.null_count or (pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py()):
            return False
        before, after = column.slice(0, rows.num_rows - 1), column.slice(1)
        if pc.any(pc.and_(tied, pc.greater(before, after))).as_py():
            return False
        tied = pc.and_(tied, pc.equal(before, after))
        if not pc.any(tied).as_py():
            return True
    return True


def write_rows(run: RunDir, table: Table, content: pa.Table) -> pa.Table:
    """Write a small table that is here already; returns it sorted."""
    rows = content.select(table.column_names).cast(table.arrow_schema())
    ordered = rows if is_ordered(rows) else rows.sort_by([(name, "ascending") for name in table.column_names])
    folder = run.result(table.name)
    run.remove(folder)
    with run.open_output(f"{folder}/{_ONE_FILE}") as stream:
        pq.write_table(ordered, stream, compression="zstd")
    return ordered


def write_packed(run: RunDir, path: str, content: pa.Table, rows_a_group: int | None = None) -> None:
    """Rows as they are, small; words are words to whoever reads this, whatever they were here."""
    integers = [f.name for f in content.schema if pa.types.is_integer(f.type)]
    others = [f.name for f in content.schema if f.name not in integers and not pa.types.is_boolean(f.type)]
    with run.open_output(path) as stream:
        pq.write_table(
            content,
            stream,
            row_group_size=rows_a_group,
            compression="zstd",
            compression_level=1,
            use_dictionary=others,
            column_encoding=dict.fromkeys(integers, "DELTA_BINARY_PACKED"),
            store_schema=False,
        )
