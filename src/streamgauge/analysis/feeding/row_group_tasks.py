"""Many events in order: tasks read row groups of their slices, join them, write what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.feeding.fed import (
    NOTHING_ROLLED,
    Fed,
    all_facts,
    all_strays,
    starts_of,
    to_be_added,
)
from streamgauge.analysis.feeding.here import feed_here
from streamgauge.analysis.feeding.leg_tasks import ROWS_A_GROUP, BucketFile, LegTables, leg_pieces
from streamgauge.analysis.feeding.slice_work import SliceWork, joined_slice, slice_work, surveyed
from streamgauge.analysis.feeding.slices import USUAL, Cutting, RowGroup, Slice
from streamgauge.analysis.feeding.tasks import Tasks
from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.joining.facts import AgentClocks
from streamgauge.analysis.joining.strays import CLAIMED, STRAYS
from streamgauge.analysis.joining.survey import (
    DAMAGE,
    FIRSTS,
    REACH,
    Survey,
)
from streamgauge.analysis.result_rows import write_packed
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.events import RECEIVES, SENDS
from streamgauge.tables.results import MESSAGES

BUCKETS_FOLDER, CELLS_FOLDER = "results/_buckets", "results/_cells"
MOST_DAMAGE = 200_000
"""Damaged places up to here are taken to the driver, and from there to every task."""


class _Left(NamedTuple):
    """What a slice leaves beside its files."""

    strays: pa.Table
    claimed: pa.Table
    buckets: BucketFile


def survey_by_tasks(
    tasks: Tasks, run: RunDir, groups: Sequence[RowGroup], cutting: Cutting = USUAL
) -> Survey | None:
    """None when there is too much damage to take along."""
    known, unread = [], []
    for group in groups:
        firsts = _known_firsts(group)
        if firsts is not None:
            known.append(firsts)
        elif group.table in (SENDS.name, RECEIVES.name):
            unread.append(group)
    location, block = run.location, cutting.block

    def each(given: Iterable[list[tuple[int, RowGroup]]]) -> Iterator[Survey | None]:
        here = RunDir(location)
        for task in given:
            merged = Survey.merged(surveyed(here, group, block) for _, group in task)
            yield merged if merged.damage.num_rows <= MOST_DAMAGE else None

    found = tasks(each, unread, lambda group: group.rows)
    parts = [part for part in found if part is not None]
    survey = Survey.merged([*parts, Survey.merged(known)])
    return survey if len(parts) == len(found) and survey.damage.num_rows <= MOST_DAMAGE else None


def feed_by_tasks(
    tasks: Tasks,
    run: RunDir,
    plan: Plan,
    slices: Sequence[Slice],
    survey: Survey,
    clocks: Mapping[str, AgentClocks],
    cutting: Cutting = USUAL,
    rolled_to: Mapping[str, int] = NOTHING_ROLLED,
) -> Fed:
    if not slices:
        return feed_here(run, plan, [], clocks, rolled_to)
    facts = all_facts(plan, clocks, survey)
    for folder in (run.result(MESSAGES.name), BUCKETS_FOLDER, CELLS_FOLDER):
        run.remove(folder)
    work = slice_work(slices, facts, survey, cutting.block)
    location = run.location

    def each(given: Iterable[list[tuple[int, SliceWork]]]) -> Iterator[_Left]:
        here = RunDir(location)
        for number, one in (numbered for task in given for numbered in task):
            found = joined_slice(here, one)
            _write(here, here.result(MESSAGES.name), number, found.messages)
            file = _write(here, BUCKETS_FOLDER, number, found.buckets, ROWS_A_GROUP)
            _write(here, CELLS_FOLDER, number, found.cells)
            yield _Left(found.strays, found.claimed, BucketFile.of(file, found.buckets))

    left = tasks(each, work, lambda one: one.place.rows)
    strays = pa.concat_tables([STRAYS.empty_table(), *(one.strays for one in left)])
    claimed = pa.concat_tables([CLAIMED.empty_table(), *(one.claimed for one in left)])
    files = sorted(one.buckets for one in left)
    pieces = leg_pieces(files, cutting.most_buckets)
    legs = tasks(LegTables(location, cutting.most_buckets), pieces, lambda piece: piece.rows)
    latencies, histograms = zip(*legs, strict=True)
    fed = Fed(
        starts_of(survey, facts),
        _cells(run),
        all_strays(strays, survey.damage, claimed, facts),
        pa.concat_tables(latencies),
        pa.concat_tables(histograms),
        _to_be_added(run, rolled_to),
    )
    for folder in (BUCKETS_FOLDER, CELLS_FOLDER):
        run.remove(folder)
    return fed


def tasks_reach(tasks: Tasks, run: RunDir) -> bool:
    """Whether tasks get at the run folder; where only Spark's file systems do, a host may lack a jar."""
    if not run.is_behind_spark:
        return True
    location = run.location

    def each(given: Iterable[object]) -> Iterator[bool]:
        for _ in given:
            try:
                yield RunDir(location).has(RunDir.plan)
            except (StreamgaugeError, OSError):
                yield False

    return all(tasks(each, [0], lambda _: 1))


def _known_firsts(group: RowGroup) -> Survey | None:
    """A row group of one producer says itself when that began."""
    if group.table != SENDS.name or group.producers is None or group.intended_ns is None:
        return None
    producer, last = group.producers
    if producer != last:
        return None
    row = {"case": group.case, "producer": producer, "first_ns": group.intended_ns[0]}
    return Survey(pa.Table.from_pylist([row], schema=FIRSTS), REACH.empty_table(), DAMAGE.empty_table())


def _cells(run: RunDir) -> pa.Table:
    parts = []
    for file in run.list_files(CELLS_FOLDER):
        with run.open_input(file) as stream:
            parts.append(pq.ParquetFile(stream).read())
    return pa.concat_tables(parts)


def _to_be_added(run: RunDir, rolled_to: Mapping[str, int]) -> pa.Table:
    """File by file: of most seconds nothing is wanted."""
    parts = [BUCKETS.empty_table()]
    for file in run.list_files(BUCKETS_FOLDER) if rolled_to else ():
        with run.open_input(file) as stream:
            parts.append(to_be_added(pq.ParquetFile(stream).read().cast(BUCKETS), rolled_to))
    return pa.concat_tables(parts)


def _write(run: RunDir, folder: str, number: int, content: pa.Table, rows_a_group: int | None = None) -> str:
    path = f"{folder}/part-{number:05d}.parquet"
    write_packed(run, path, content, rows_a_group)
    return path
