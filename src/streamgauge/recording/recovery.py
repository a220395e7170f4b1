"""What a killed agent had recorded and not written, written for it by whoever led it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamgauge.core.run_dir import RunDir
from streamgauge.recording.finishing import FINISHED
from streamgauge.recording.kept import KeptChunk, kept_chunks
from streamgauge.recording.parquet import EventFiles
from streamgauge.tables.column import Table
from streamgauge.tables.events import RECEIVES, SENDS

FAILED = "failed; the agent was killed before it could say why"
_STAMPS = {SENDS.name: "sent_ns", RECEIVES.name: "received_ns"}
_PLACES = {SENDS.name: ("producer", "sequence"), RECEIVES.name: ("consumer", "arrival")}


def recover(folder: Path, run: RunDir, case: str, agent: str) -> dict[str, int]:
    """By table: how many rows there are now, of those that it wrote itself and of those it had not."""
    files = EventFiles(run, case, agent)
    for table in (SENDS, RECEIVES):
        written = _written(run, case, agent, table, files)
        for chunk in kept_chunks(folder, table):
            used = _used(chunk.columns[_STAMPS[table.name]])
            # Killed between the writing of a chunk and the note of it.
            is_there = bool(np.any((written[0] == chunk.number) & (written[1] == chunk.first)))
            if used and not is_there:
                files.write(table, _finished(table, chunk, used))
    return dict(files.rows)


def rows_before(run: RunDir, case: str, agent: str, intended_ns: int) -> dict[int, int]:
    """By producer: how many of its messages were due before that time."""
    found: dict[int, int] = {}
    for path in _parts(run, case, agent, SENDS):
        with run.open_input(path) as stream:
            rows = pq.read_table(stream, columns=["producer", "intended_ns"])
        producers, due_ns = (rows[name].to_numpy() for name in ("producer", "intended_ns"))
        for producer in np.unique(producers).tolist():
            early = int(np.count_nonzero((producers == producer) & (due_ns < intended_ns)))
            found[producer] = found.get(producer, 0) + early
    return found


def _finished(table: Table, chunk: KeptChunk, used: int) -> dict[str, Any]:
    """As the agent itself would have."""
    columns: dict[str, Any] = {name: values[:used].copy() for name, values in chunk.columns.items()}
    whose, which = _PLACES[table.name]
    columns[whose] = np.full(used, chunk.number, np.int32)
    columns[which] = np.arange(chunk.first, chunk.first + used)
    if table is SENDS:
        unknown = columns["acked_ns"] == 0
        columns |= {name: np.where(unknown, -1, columns[name]) for name in ("partition", "offset")}
        if chunk.partition is not None:
            columns["partition"] = np.full(used, chunk.partition, np.int32)
        if (failed := chunk.failed[:used] != 0).any():
            columns["error"] = np.full(used, None, object)
            columns["error"][failed] = FAILED
    return FINISHED[table.name](columns)


def _used(stamps: NDArray[np.int64]) -> int:
    """Rows are filled one behind the other, and a time is never 0."""
    empty = np.flatnonzero(stamps == 0)
    return int(empty[0]) if len(empty) else len(stamps)


def _written(
    run: RunDir, case: str, agent: str, table: Table, files: EventFiles
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whose rows are there, and which; `files` goes on behind them."""
    names, parts = list(_PLACES[table.name]), _parts(run, case, agent, table)
    found = []
    for path in parts:
        with run.open_input(path) as stream:
            found.append(pq.read_table(stream, columns=names))
    files.go_on(table, _next_part(parts), sum(part.num_rows for part in found))
    whose, which = (
        np.concatenate([np.zeros(0, np.int64), *(part[name].to_numpy() for part in found)]) for name in names
    )
    return whose, which


def _next_part(paths: list[str]) -> int:
    """Behind the last: some may have been rolled up."""
    numbers = [int(path.rpartition("-")[2][:5]) for path in paths]
    return max(numbers, default=-1) + 1


def _parts(run: RunDir, case: str, agent: str, table: Table) -> list[str]:
    folder = run.events(table.name, case)
    return [
        path
        for path in run.list_files(folder, ".parquet")
        if path.removeprefix(f"{folder}/").rpartition("-")[0] == agent
    ]
