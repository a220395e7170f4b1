"""A run folder to record into, and its rows read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.core.run_dir import RunDir
from streamgauge.recording.parquet import EventFiles
from streamgauge.tables.column import Table

CASE, AGENT = "001", "agent-0"


class AtOnce:
    """A writer that writes at once, in the caller's thread."""

    def __init__(self) -> None:
        self.soon: list[bool] = []

    def put(self, size_bytes: int, write: Callable[[], None], soon: bool) -> None:
        assert size_bytes > 0
        self.soon.append(soon)
        write()


class Recorder:
    def __init__(self, folder: str) -> None:
        self.run = RunDir(folder)
        self.files = EventFiles(self.run, CASE, AGENT)
        self.writer: Any = AtOnce()

    def parts(self, table: Table) -> list[pa.Table]:
        """Every part written, each with the very schema of its table."""
        found = []
        for path in self.run.list_files(self.run.events(table.name)):
            part = pq.read_table(self.run.local(path), partitioning=None)
            assert part.schema.remove_metadata() == table.arrow_schema()
            part.validate(full=True)
            for column in table.columns:
                assert column.nullable or part[column.name].null_count == 0
            found.append(part)
        return found

    def rows(self, table: Table) -> list[dict[str, Any]]:
        return [row for part in self.parts(table) for row in part.to_pylist()]
