"""The tables of a roll-up: latencies of every second, and of all so far; cells; messages with a row."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.events import RECEIVES, SENDS

SECONDS_FILE, TOTALS_FILE, CELLS_FILE, MESSAGES_FILE = (
    f"{name}.parquet" for name in ("seconds", "totals", "cells", "messages")
)


def read_part_table(run: RunDir, path: str, schema: pa.Schema) -> pa.Table:
    with run.open_input(path) as stream:
        return pq.read_table(stream, use_threads=False).select(schema.names).cast(schema)


def read_totals(run: RunDir, case: str, number: int) -> pa.Table:
    """Of all roll-ups up to this one; before the first there are none."""
    if not number:
        return BUCKETS.empty_table()
    return read_part_table(run, f"{run.rolled(case, number)}/{TOTALS_FILE}", BUCKETS)


def raw_bytes(run: RunDir, case: str) -> int:
    """Of events that are there message by message."""
    files = [
        file
        for table in (SENDS, RECEIVES)
        for file in run.list_files(run.events(table.name, case), ".parquet")
    ]
    return sum(size for _, size, _ in run.stamps(files))
