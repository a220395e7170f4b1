"""Parts of many streams in one file: hundreds of them share an agent, and each file costs the analysis."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from streamgauge.recording.columns import CHUNK_ROWS, SEAL_AFTER_NS
from streamgauge.recording.parquet import EventFiles, arrow_table
from streamgauge.tables.column import Table


class GatheredFiles:
    """Keeps parts until they make a file of some size, or have waited for some seconds."""

    def __init__(self, files: EventFiles) -> None:
        self._files = files
        self._parts: dict[Table, list[pa.Table]] = {}
        self._then: list[Callable[[], None]] = []
        self._oldest_ns = 0

    def write(
        self, table: Table, columns: Mapping[str, Any], then: Callable[[], None] = lambda: None
    ) -> None:
        """One part; `then` is called when its file is written. Whoever made it uses its memory again, so
        this keeps a copy."""
        parts = self._parts.setdefault(table, [])
        now_ns = time.monotonic_ns()
        if not any(self._parts.values()):
            self._oldest_ns = now_ns
        parts.append(
            arrow_table(
                table, {name: None if column is None else column.copy() for name, column in columns.items()}
            )
        )
        self._then.append(then)
        rows = sum(part.num_rows for part in parts)
        if rows >= CHUNK_ROWS or now_ns - self._oldest_ns > SEAL_AFTER_NS:
            self.flush()

    def flush(self) -> None:
        """Write what is there."""
        gathered, self._parts = self._parts, {}
        for table, parts in gathered.items():
            self._files.write_table(table, pa.concat_tables(parts))
        told, self._then = self._then, []
        for then in told:
            then()
