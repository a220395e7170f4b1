"""Blocks of a run with very many messages are counted once, and kept beside its results.

Every report looks at the run before, and every comparison at both sides: without this each of them would read
all messages again. What is kept is as good as the files that it was counted from: if one of these was written
again, or other times are asked for, it is not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamgauge.comparing.blocks import BLOCKS, Blocks, Times, read_blocks
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.report.result_tables import result_files
from streamgauge.tables.results import MESSAGES

KEPT_FROM = 500_000
"""Messages: fewer are read in less than a second."""
_COUNTED_FROM = b"counted_from"
_SCHEMA = pa.schema(
    [
        pa.field("case", pa.string()),
        pa.field("block", pa.int8()),
        pa.field("value_ns", pa.float64()),  # null: messages that were through in that block
        pa.field("count", pa.int64()),
    ]
)


def blocks_of_run(run: RunDir, times: Mapping[str, Times]) -> dict[str, Blocks]:
    """As `read_blocks`, but what was counted before is not counted again."""
    files = run.stamps(result_files(run, MESSAGES))
    kept = _read(run, files, times)
    if kept is not None:
        return kept
    found = read_blocks(run, dict(times))
    if sum(int(blocks.reached[-1]) for blocks in found.values()) >= KEPT_FROM:
        # Somebody else's folder, or a full disk: then it is counted again the next time.
        with suppress(BadInput):
            _write(run, files, times, found)
    return found


def _counted_from(files: list[tuple[str, int, int]], times: Mapping[str, Times]) -> dict[str, object]:
    asked = {case: list(astuple(each)) for case, each in times.items()}
    return {"files": [list(each) for each in files], "blocks": BLOCKS, "times": asked}


def _read(
    run: RunDir, files: list[tuple[str, int, int]], times: Mapping[str, Times]
) -> dict[str, Blocks] | None:
    if not run.has(run.kept_blocks):
        return None
    try:
        with run.open_input(run.kept_blocks) as stream:
            table = pq.read_table(stream)
        counted_from = json.loads((table.schema.metadata or {})[_COUNTED_FROM])
        asked = _counted_from(files, times)
        kept_times, wanted_times = counted_from.pop("times"), asked.pop("times")
    except (OSError, pa.ArrowException, KeyError, ValueError):
        return None
    if counted_from != asked or not isinstance(wanted_times, dict):
        return None
    if any(kept_times.get(case) != of for case, of in wanted_times.items()):
        return None
    there = pc.unique(table["case"]).to_pylist()
    return {case: _blocks(table.filter(pc.equal(table["case"], case))) for case in times if case in there}


def _blocks(rows: pa.Table) -> Blocks:
    is_through = pc.is_null(rows["value_ns"])
    through, counted = rows.filter(is_through), rows.filter(pc.invert(is_through))
    values, columns = np.unique(counted["value_ns"].to_numpy(), return_inverse=True)
    counts = np.zeros((BLOCKS, len(values)), np.int64)
    counts[counted["block"].to_numpy(), columns] = counted["count"].to_numpy()
    out_counts = np.zeros(BLOCKS, np.int64)
    out_counts[through["block"].to_numpy()] = through["count"].to_numpy()
    return Blocks(values, counts, out_counts)


def _write(
    run: RunDir, files: list[tuple[str, int, int]], times: Mapping[str, Times], found: Mapping[str, Blocks]
) -> None:
    parts = [_SCHEMA.empty_table(), *(_rows(case, blocks) for case, blocks in found.items())]
    about = {_COUNTED_FROM: json.dumps(_counted_from(files, times)).encode()}
    with run.open_output(run.kept_blocks) as stream:
        table = pa.concat_tables(parts).replace_schema_metadata(about)
        pq.write_table(table, stream, compression="zstd")


def _rows(case: str, blocks: Blocks) -> pa.Table:
    places, columns = np.nonzero(blocks.counts)
    numbers = np.concatenate([places, np.arange(BLOCKS)])
    values = pa.array([*blocks.values_ns[columns], *[None] * BLOCKS], pa.float64())
    counts = np.concatenate([blocks.counts[places, columns], blocks.out_counts])
    columns_of_all = [[case] * len(numbers), numbers.astype(np.int8), values, counts]
    return pa.Table.from_arrays([pa.array(each) for each in columns_of_all], schema=_SCHEMA)
