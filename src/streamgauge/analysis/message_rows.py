"""Table `messages`, which may be large: it is read a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.core.run_dir import RunDir
from streamgauge.tables.results import MESSAGES

ROLLED_FILE = "rolled-"
"""How files begin whose rows are of messages that were rolled up, and kept a row all the same."""


def messages_of(run: RunDir, columns: list[str], *, with_rolled_up: bool = True) -> Iterator[pa.Table]:
    """`with_rolled_up`: those, too, that were counted before."""
    left_out = ("_", ".") if with_rolled_up else ("_", ".", ROLLED_FILE)
    for file in run.list_files(run.result(MESSAGES.name), ".parquet"):
        if file.rpartition("/")[2].startswith(left_out):
            continue
        with run.open_input(file) as stream:
            parquet = pq.ParquetFile(stream)
            for number in range(parquet.num_row_groups):
                yield parquet.read_row_group(number, columns=columns, use_threads=False)
