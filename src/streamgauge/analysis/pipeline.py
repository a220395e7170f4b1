"""Events → results: the only place of the analysis that reads and writes.

`messages` is written first and read back: Parquet is the cache of everything after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamgauge.analysis.accounting import accounting, reach_of
from streamgauge.analysis.cells import cells_of
from streamgauge.analysis.clocks import agent_clocks, clocks
from streamgauge.analysis.cpu import cpu
from streamgauge.analysis.event_files import checked_events
from streamgauge.analysis.histogram import buckets_of, histogram
from streamgauge.analysis.latency import latency
from streamgauge.analysis.messages import DAMAGE, damage_of, messages, producers_of
from streamgauge.analysis.planned import planned_cases, planned_topics, planned_warm_ups
from streamgauge.analysis.query import query
from streamgauge.analysis.ranges import ranges
from streamgauge.analysis.resources import resources
from streamgauge.analysis.runtimes import runtimes
from streamgauge.analysis.sizing import for_few, sized_for
from streamgauge.analysis.slice_facts import facts_of
from streamgauge.analysis.slice_tasks import (
    BUCKETS_FOLDER,
    CELLS_FOLDER,
    SliceWork,
    slice_work,
    slices_as_tasks,
    slices_here,
)
from streamgauge.analysis.slices import BEYOND, BLOCK, RowGroup, plan_slices
from streamgauge.analysis.storage import (
    local_frame,
    read_events,
    read_few_events,
    write_messages,
    write_result,
    write_rows,
)
from streamgauge.analysis.strays import STRAYS, strays
from streamgauge.analysis.throughput import throughput
from streamgauge.analysis.verdicts import case_figures, verdicts
from streamgauge.core.errors import BadInput, CorruptRun, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import note_analysis, read_status
from streamgauge.plan.family_tables import event_tables_of
from streamgauge.plan.plan_file import Plan, read_plan
from streamgauge.spec.families import family_of
from streamgauge.tables import events, results
from streamgauge.tables.column import Table

_LOCAL_ROWS = 200_000
"""Damaged places up to here are taken to the driver, and from there to every task."""

_FAILED_FILE = re.compile(r"(?:file|path)[:=]? *'?(?P<file>[a-z0-9]+:/[^\s'\"]+\.parquet)", re.IGNORECASE)


_CORRUPT = re.compile(r"CorruptRun: (?P<words>.+)")
"""Said by a task of ours, within all that Spark says of it."""


def analyze(session: SparkSession, run: RunDir) -> None:
    """Compute every result table of the run, whatever was computed before."""
    plan = read_plan(run)
    note_analysis(run, is_done=False)
    own = family_of(plan.kind).analysis()
    tables = event_tables_of(plan.kind)
    found = [group for table in tables for group in checked_events(run, plan, table)]
    try:
        with sized_for(session, sum(group.rows for group in found)) as is_small:
            if own is not None:
                own(session, run, plan)
            else:
                few = session if is_small else for_few(session)
                _Analysis(session, few, run, plan, found, is_small).compute()
    except (PySparkException, Py4JError) as error:
        raise _why_not(run, str(error)) from error
    note_analysis(run, is_done=True)


def _why_not(run: RunDir, told: str) -> StreamgaugeError:
    """Spark's word on what went wrong, in one line."""
    if "No space left on device" in told:
        return BadInput(f"{run.location}: the disk is full; free some space, then: streamgauge analyze")
    if (corrupt := _CORRUPT.search(told)) is not None:
        return CorruptRun(corrupt["words"])
    if (failed := _FAILED_FILE.search(told)) is not None:
        return CorruptRun(f"{failed['file']}: cannot be read as Parquet; its run cannot be analysed")
    first = next(iter(told.strip().splitlines()), "Spark did not say why")
    return StreamgaugeError(f"{run.location}: the analysis failed: {first}; --debug shows more")


class _Damage(NamedTuple):
    frame: DataFrame
    rows: pa.Table | None
    """The same here, when it is little."""


class _Analysis:
    """The tables in the order in which they need each other."""

    def __init__(
        self,
        session: SparkSession,
        few: SparkSession,
        run: RunDir,
        plan: Plan,
        found: Sequence[RowGroup],
        is_small: bool,
    ) -> None:
        """`few` is the session for tables of few rows; the same as the other when all are."""
        self._session, self._few, self._run, self._plan = session, few, run, plan
        self._is_small = is_small
        self._status = read_status(run)
        # Tasks cannot get at slices of what only the launcher and Spark itself can read.
        self._slices = plan_slices(found) if is_small or not run.is_behind_spark else None
        self._topics = self._one(planned_topics(session, plan))
        self._sends, self._receives = (
            self._one(read_events(session, run, table)) for table in (events.SENDS, events.RECEIVES)
        )
        self._samples, self._marks = (
            read_few_events(few, run, table).coalesce(1) for table in (events.SAMPLES, events.MARKS)
        )

    def compute(self) -> None:
        agents = agent_clocks(self._marks).toArrow()
        warm_ups = self._one(planned_warm_ups(self._session, self._plan))
        known = producers_of(self._sends, warm_ups, self._shared(agents)).toArrow()
        starts = known.group_by(["case", "start_ns"]).aggregate([])
        # Blocks matter to slices only; without them there are fewer rows.
        block = BEYOND if self._slices is None else BLOCK
        reach = reach_of(self._receives, self._topics, block).toArrow()
        damage = self._damage(reach)
        # Planning a small table takes longer than computing it: independent ones are planned side by side.
        with ThreadPoolExecutor(max_workers=2) as side_by_side:
            usage = side_by_side.submit(self._usage, starts)
            sent, buckets, cells = self._per_message(agents, known, starts, reach, damage)
            latencies = side_by_side.submit(self._latencies, buckets)
            lone = self._strays(sent, cells, reach, damage.frame)
            counted = self._write(results.ACCOUNTING, accounting(cells, lone))
            rates = self._rates(cells)
            resource_use, clock_use = usage.result()
            cpu_use = self._write(results.CPU, cpu(self._samples, self._marks, counted))
        figures = case_figures(
            planned_cases(self._few, self._plan, self._status).coalesce(1),
            cells,
            accounting=counted,
            latency=latencies.result(),
            throughput=rates,
            cpu=cpu_use,
            resources=resource_use,
            clocks=clock_use,
        )
        for table, rows in zip((results.VERDICTS, results.CAUSES), verdicts(figures), strict=True):
            write_rows(self._run, table, pa.Table.from_pylist(rows, schema=table.arrow_schema()))
        for folder in (BUCKETS_FOLDER, CELLS_FOLDER):
            self._run.remove(folder)

    def _per_message(
        self, agents: pa.Table, known: pa.Table, starts: pa.Table, reach: pa.Table, damage: _Damage
    ) -> tuple[DataFrame, DataFrame, DataFrame]:
        """Messages, and their buckets and cells: slice by slice where that can be, else by Spark's joins."""
        if self._slices is not None and damage.rows is not None:
            facts = facts_of(self._plan, agents=agents, producers=known, reach=reach, damage=damage.rows)
            return self._by_slices(slice_work(self._slices, facts, reach))
        joined = messages(
            self._sends,
            self._receives,
            damage=damage.frame,
            producers=self._shared(known),
            agents=self._shared(agents),
            topics=self._topics,
        )
        sent = write_messages(self._session, self._run, results.MESSAGES, joined)
        cases = self._one(planned_cases(self._session, self._plan, self._status))
        cells = cells_of(sent, self._shared(reach), cases, self._shared(starts))
        return sent, buckets_of(sent).cache(), self._local(cells.toArrow())

    def _by_slices(self, work: Sequence[SliceWork]) -> tuple[DataFrame, DataFrame, DataFrame]:
        if self._is_small:
            found = slices_here(self._run, work)
            sent = write_rows(self._run, results.MESSAGES, found.messages)
            return self._local(sent), self._local(found.buckets), self._local(found.cells)
        slices_as_tasks(self._session, self._run, work)
        folders = (self._run.result(results.MESSAGES.name), BUCKETS_FOLDER, CELLS_FOLDER)
        sent, buckets, cells = (self._session.read.parquet(self._run.url(folder)) for folder in folders)
        return sent, buckets, self._local(cells.toArrow())

    def _usage(self, starts: pa.Table) -> tuple[DataFrame, DataFrame]:
        intervals = resources(self._samples, self._marks, self._local(starts))
        return self._write(results.RESOURCES, intervals), self._write(results.CLOCKS, clocks(self._marks))

    def _latencies(self, buckets: DataFrame) -> DataFrame:
        latencies = self._write(results.LATENCY, latency(buckets))
        self._write(results.HISTOGRAM, histogram(buckets))
        buckets.unpersist()
        return latencies

    def _rates(self, cells: DataFrame) -> DataFrame:
        self._write(results.RANGES, ranges(cells))
        self._write(results.RUNTIMES, runtimes(cells))
        return self._write(results.THROUGHPUT, throughput(cells))

    def _damage(self, reach: pa.Table) -> _Damage:
        """Mostly there is none, and then joining with it costs nothing."""
        damage = damage_of(self._receives)
        is_any = pc.any(pc.greater(reach["damaged"], 0)).as_py()
        first = damage.limit(_LOCAL_ROWS + 1).toArrow() if is_any else DAMAGE.empty_table()
        if first.num_rows > _LOCAL_ROWS:
            return _Damage(damage, None)
        here = self._shared(first)
        return _Damage(here if self._is_small else fn.broadcast(here), first)

    def _strays(self, sent: DataFrame, cells: DataFrame, reach: pa.Table, damage: DataFrame) -> DataFrame:
        """Looks for intact strays only in cases that received more than copies of what they sent."""
        received = reach.group_by("case").aggregate([("intact", "sum"), ("damaged", "sum")]).to_pylist()
        copies = query(
            "select `case`, sum(received + duplicate) as intact from {cells} group by `case`", cells=cells
        )
        matched = {row["case"]: row["intact"] for row in copies.collect()}
        uneven = [row["case"] for row in received if row["intact_sum"] != matched.get(row["case"], 0)]
        if not uneven and not any(row["damaged_sum"] for row in received):
            return self._local(STRAYS.empty_table())
        found = strays(
            self._sends,
            self._receives,
            messages=sent,
            damage=damage,
            topics=self._topics,
            uneven_cases=uneven,
        )
        return self._local(found.toArrow())

    def _write(self, table: Table, frame: DataFrame) -> DataFrame:
        return write_result(self._few, self._run, table, frame).coalesce(1)

    def _local(self, rows: pa.Table) -> DataFrame:
        """Few rows in one partition: what is in one place needs no exchange, so a query is one task."""
        return local_frame(self._few, rows).coalesce(1)

    def _shared(self, rows: pa.Table) -> DataFrame:
        """A small table to join with large ones: Spark knows its size, and folds away joins with nothing."""
        return self._one(local_frame(self._session, rows))

    def _one(self, frame: DataFrame) -> DataFrame:
        return frame.coalesce(1) if self._is_small else frame
