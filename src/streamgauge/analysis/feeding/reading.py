"""Rows of event files, by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.feeding.slices import RowGroup
from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.column import Table
from streamgauge.tables.events import RECEIVES

JOINED_OF_RECEIVES = [name for name in RECEIVES.column_names if name != "size_bytes"]
"""Columns that the kernel looks at: a message has the size that was sent."""


def read_groups(run: RunDir, table: Table, groups: Sequence[RowGroup], columns: list[str]) -> pa.Table:
    """These columns of these row groups of a table."""
    files: dict[str, list[int]] = {}
    for group in groups:
        files.setdefault(group.file, []).append(group.number)
    schema = pa.schema([table.arrow_schema().field(name) for name in columns])
    parts = [schema.empty_table()]
    for file, numbers in files.items():
        try:
            with run.open_input(file) as stream:
                part = pq.ParquetFile(stream).read_row_groups(numbers, columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            why = " ".join(str(error).split())
            raise CorruptRun(f"{run.url(file)}: cannot be read as Parquet: {why}") from error
        parts.append(part.select(columns))
    return pa.concat_tables(parts, promote_options="permissive").combine_chunks()


def rows_by_case(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Rows with a column `case`, case by case: each row is looked at once, however many cases there are."""
    if not rows.num_rows:
        return
    cases = rows["case"].combine_chunks().dictionary_encode()
    number, names = cases.indices.to_numpy(), cases.dictionary.to_pylist()
    if (number[1:] < number[:-1]).any():
        order = np.argsort(number, kind="stable")
        rows, number = rows.take(pa.array(order)), number[order]
    begins = [0, *(np.flatnonzero(number[1:] != number[:-1]) + 1).tolist(), len(number)]
    for begin, end in pairwise(begins):
        yield names[number[begin]], rows.slice(begin, end - begin)
