"""Slices as Spark tasks: each reads the row groups of its slices, joins them, and writes what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from streamgauge.analysis.slice_buckets import BUCKETS, slice_buckets
from streamgauge.analysis.slice_cells import CELLS, slice_cells
from streamgauge.analysis.slice_facts import CaseFacts, Stream
from streamgauge.analysis.slice_messages import slice_messages
from streamgauge.analysis.slices import BLOCK, RowGroup, Slice
from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.events import INTACT, RECEIVES, SENDS
from streamgauge.tables.results import MESSAGES

BUCKETS_FOLDER, CELLS_FOLDER = "results/_buckets", "results/_cells"
_TASKS_A_SLOT = 2
_UNREAD = ("size_bytes",)
"""Columns of receives that no message takes."""


class SliceTables(NamedTuple):
    messages: pa.Table
    buckets: pa.Table
    cells: pa.Table


class SliceWork(NamedTuple):
    """A slice, and what is to be known to compute it."""

    place: Slice
    facts: CaseFacts
    later_arrivals: dict[Stream, int]


def slice_work(slices: Sequence[Slice], facts: Mapping[str, CaseFacts], reach: pa.Table) -> list[SliceWork]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in reach.filter(reach["producer"].is_valid()).to_pylist():
        rows.setdefault(row["case"], []).append(row)
    for of_case in rows.values():
        of_case.sort(key=lambda row: int(row["block"]))
    work: list[SliceWork] = []
    later: dict[Stream, int] = {}
    # From the end: what comes later than a slice has been seen when it is its turn.
    for one, following in zip(reversed(slices), [None, *reversed(slices)], strict=False):
        if following is None or following.case != one.case:
            later = {}
        of_case = rows.get(one.case, [])
        while of_case and of_case[-1]["block"] * BLOCK >= one.high:
            row = of_case.pop()
            stream = (row["consumer"], row["producer"], row["topic_number"], row["partition"])
            later[stream] = min(row["first_arrival"], later.get(stream, row["first_arrival"]))
        work.append(SliceWork(one, facts[one.case], dict(later)))
    return work[::-1]


def slices_here(run: RunDir, work: Sequence[SliceWork]) -> SliceTables:
    """All slices of a small run, computed in this process: starting a task takes longer."""
    found = [_computed(run, one) for one in work]
    nothing = SliceTables(MESSAGES.arrow_schema().empty_table(), BUCKETS.empty_table(), CELLS.empty_table())
    return SliceTables(*(pa.concat_tables(parts) for parts in zip(*found, strict=True))) if found else nothing


def slices_as_tasks(session: SparkSession, run: RunDir, work: Sequence[SliceWork]) -> None:
    """Write messages into their folder, and their buckets and cells into two more."""
    for folder in (run.result(MESSAGES.name), BUCKETS_FOLDER, CELLS_FOLDER):
        run.remove(folder)
    context = session.sparkContext
    location = run.location

    def each(tasks: Iterable[list[tuple[int, SliceWork]]]) -> Iterator[int]:
        here = RunDir(location)
        for number, one in (numbered for task in tasks for numbered in task):
            found = _computed(here, one)
            _write(here, here.result(MESSAGES.name), number, found.messages)
            _write(here, BUCKETS_FOLDER, number, found.buckets)
            _write(here, CELLS_FOLDER, number, found.cells)
            yield number

    tasks = dealt_out(work, _TASKS_A_SLOT * max(1, context.defaultParallelism))
    context.parallelize(tasks, max(1, len(tasks))).mapPartitions(each).count()


def dealt_out(work: Sequence[SliceWork], tasks: int) -> list[list[tuple[int, SliceWork]]]:
    """Numbered slices in tasks of nearly as many rows each, the longest first."""
    dealt: list[list[tuple[int, SliceWork]]] = [[] for _ in range(min(tasks, len(work)))]
    loads = [0] * len(dealt)
    for number, one in sorted(enumerate(work), key=lambda numbered: -numbered[1].place.rows):
        least = loads.index(min(loads))
        dealt[least].append((number, one))
        loads[least] += one.place.rows
    order = sorted(range(len(dealt)), key=lambda task: -loads[task])
    return [dealt[task] for task in order]


def _computed(run: RunDir, work: SliceWork) -> SliceTables:
    one = work.place
    sends = _read(run, one.sends, SENDS.column_names, SENDS.arrow_schema(), one)
    names = [name for name in RECEIVES.column_names if name not in _UNREAD]
    receives = _read(run, one.receives, names, RECEIVES.arrow_schema(), one)
    found = slice_messages(work.facts, sends, receives, work.later_arrivals)
    return SliceTables(found.table(), slice_buckets(found), slice_cells(found))


def _read(
    run: RunDir, groups: Sequence[RowGroup], names: list[str], schema: pa.Schema, one: Slice
) -> pa.Table:
    """Rows of the slice; of receives only intact ones: others have no sequence to trust."""
    files: dict[str, list[RowGroup]] = {}
    for group in groups:
        files.setdefault(group.file, []).append(group)
    parts = [pa.schema([schema.field(name) for name in names]).empty_table()]
    for file, own in files.items():
        try:
            with run.open_input(file) as stream:
                numbers = [group.number for group in own]
                part = pq.ParquetFile(stream).read_row_groups(numbers, columns=names, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            why = " ".join(str(error).split())
            raise CorruptRun(f"{run.url(file)}: cannot be read as Parquet: {why}") from error
        parts.append(_within(part, own, one).select(names))
    return pa.concat_tables(parts, promote_options="permissive").combine_chunks()


def _within(part: pa.Table, groups: Sequence[RowGroup], one: Slice) -> pa.Table:
    has_states = "state" in part.column_names
    is_inside = all(g.sequences and g.sequences[0] >= one.low and g.sequences[1] < one.high for g in groups)
    if is_inside and not has_states:
        return part
    sequence = part["sequence"].to_numpy()
    kept = (sequence >= one.low) & (sequence < one.high)
    if has_states:
        kept &= part["state"].to_numpy() == INTACT
    return part if kept.all() else part.filter(pa.array(kept))


def _write(run: RunDir, folder: str, number: int, content: pa.Table) -> None:
    integers = [f.name for f in content.schema if pa.types.is_integer(f.type)]
    others = [f.name for f in content.schema if f.name not in integers and not pa.types.is_boolean(f.type)]
    with run.open_output(f"{folder}/part-{number:05d}.parquet") as stream:
        pq.write_table(
            content,
            stream,
            compression="zstd",
            compression_level=1,
            use_dictionary=others,
            column_encoding=dict.fromkeys(integers, "DELTA_BINARY_PACKED"),
            # Words are words to whoever reads this, whatever they were here.
            store_schema=False,
        )
