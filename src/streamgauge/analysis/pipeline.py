"""Events → results: the only place of the analysis that reads and writes.

`messages` is written first and read back: Parquet is the cache of everything after it.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamgauge.analysis.accounting import accounting
from streamgauge.analysis.clocks import agent_clocks, clocks
from streamgauge.analysis.comparison_pipeline import compare
from streamgauge.analysis.cpu import cpu
from streamgauge.analysis.fanout_pipeline import fan_out
from streamgauge.analysis.histogram import buckets_of, histogram
from streamgauge.analysis.latency import latency
from streamgauge.analysis.messages import damage_of, messages, producers_of
from streamgauge.analysis.planned import planned_cases, planned_topics, planned_warm_ups
from streamgauge.analysis.ranges import ranges
from streamgauge.analysis.resources import resources
from streamgauge.analysis.runtimes import runtimes
from streamgauge.analysis.sizing import sized_for
from streamgauge.analysis.spans import spans_of
from streamgauge.analysis.storage import read_events, write_messages, write_result
from streamgauge.analysis.strays import intact_counts, matched_counts, strays
from streamgauge.analysis.throughput import throughput
from streamgauge.analysis.verdicts import verdicts
from streamgauge.core.errors import BadInput, CorruptRun, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.plan.plan_file import Plan, read_plan
from streamgauge.tables import events, results
from streamgauge.tables.column import Table
from streamgauge.tables.comparison_events import COMPARISON_EVENTS
from streamgauge.tables.fanout_events import FANOUT_EVENTS

_LOCAL_ROWS = 200_000
"""Damaged places up to here are taken to the driver, and from there to every task."""

_FAILED_FILE = re.compile(r"(?:file|path)[:=]? *'?(?P<file>[a-z0-9]+:/[^\s'\"]+\.parquet)", re.IGNORECASE)


def analyze(session: SparkSession, run: RunDir) -> None:
    """Compute every result table of the run, whatever was computed before."""
    plan = read_plan(run)
    compared = plan.comparison
    load_tables = FANOUT_EVENTS if plan.is_fanout else events.EVENT_TABLES
    tables = load_tables if compared is None else COMPARISON_EVENTS
    rows = sum(_check_events(run, plan, table) for table in tables)
    try:
        with sized_for(session, rows):
            if plan.is_fanout:
                fan_out(session, run, plan)
            elif compared is None:
                _Analysis(session, run, plan).compute()
            else:
                compare(session, run, compared)
    except (PySparkException, Py4JError) as error:
        raise _why_not(run, str(error)) from error


def _why_not(run: RunDir, told: str) -> StreamgaugeError:
    """Spark's word on what went wrong, in one line."""
    if "No space left on device" in told:
        return BadInput(f"{run.location}: the disk is full; free some space, then: streamgauge analyze")
    if (failed := _FAILED_FILE.search(told)) is not None:
        return CorruptRun(f"{failed['file']}: cannot be read as Parquet; its run cannot be analysed")
    first = next(iter(told.strip().splitlines()), "Spark did not say why")
    return StreamgaugeError(f"{run.location}: the analysis failed: {first}; --debug shows more")


class _Analysis:
    """The tables in the order in which they need each other."""

    def __init__(self, session: SparkSession, run: RunDir, plan: Plan) -> None:
        self._session, self._run = session, run
        self._topics = planned_topics(session, plan)
        self._warm_ups = planned_warm_ups(session, plan)
        self._cases = planned_cases(session, plan, read_status(run))
        self._sends = read_events(session, run, events.SENDS)
        self._receives = read_events(session, run, events.RECEIVES)
        self._samples = read_events(session, run, events.SAMPLES)
        self._marks = read_events(session, run, events.MARKS)

    def compute(self) -> None:
        agents = self._local(agent_clocks(self._marks))
        producers = self._local(producers_of(self._sends, self._warm_ups, agents))
        starts = producers.select("case", "start_ns").distinct()
        damage = self._damage()

        joined = messages(
            self._sends,
            self._receives,
            damage=damage,
            producers=producers,
            agents=agents,
            topics=self._topics,
        )
        sent = write_messages(self._session, self._run, results.MESSAGES, joined)
        # Planning a small table takes longer than computing it: independent ones are planned side by side.
        with ThreadPoolExecutor(max_workers=2) as side_by_side:
            latencies = side_by_side.submit(self._latencies, sent)
            rates = side_by_side.submit(self._rates, sent, starts)
            counted = self._write(results.ACCOUNTING, self._accounting(sent, damage))
            cpu_use, resource_use = self._usage(counted, starts)
            clock_use = self._write(results.CLOCKS, clocks(self._marks))
        judged = verdicts(
            self._cases,
            sent,
            accounting=counted,
            latency=latencies.result(),
            throughput=rates.result(),
            cpu=cpu_use,
            resources=resource_use,
            clocks=clock_use,
        )
        self._write(results.VERDICTS, judged)

    def _usage(self, counted: DataFrame, starts: DataFrame) -> tuple[DataFrame, DataFrame]:
        intervals = self._write(results.RESOURCES, resources(self._samples, self._marks, starts))
        return self._write(results.CPU, cpu(self._samples, self._marks, counted)), intervals

    def _latencies(self, sent: DataFrame) -> DataFrame:
        buckets = buckets_of(sent).cache()
        latencies = self._write(results.LATENCY, latency(buckets))
        self._write(results.HISTOGRAM, histogram(buckets))
        buckets.unpersist()
        return latencies

    def _rates(self, sent: DataFrame, starts: DataFrame) -> DataFrame:
        spans = spans_of(sent).cache()
        self._write(results.RANGES, ranges(spans))
        self._write(results.RUNTIMES, runtimes(spans))
        rates = self._write(results.THROUGHPUT, throughput(spans, sent, starts))
        spans.unpersist()
        return rates

    def _damage(self) -> DataFrame:
        """Mostly there is none, and then joining with it costs nothing."""
        damage = damage_of(self._receives)
        first = damage.limit(_LOCAL_ROWS + 1).toArrow()
        is_small = first.num_rows <= _LOCAL_ROWS
        return fn.broadcast(self._session.createDataFrame(first)) if is_small else damage

    def _accounting(self, sent: DataFrame, damage: DataFrame) -> DataFrame:
        """Looks for intact strays only in cases that received more than copies of what they sent."""
        received = {row["case"]: row["intact"] for row in intact_counts(self._receives).collect()}
        matched = {row["case"]: row["intact"] for row in matched_counts(sent).collect()}
        uneven = [case for case, intact in received.items() if intact != matched.get(case)]
        lone = strays(
            self._sends,
            self._receives,
            messages=sent,
            damage=damage,
            topics=self._topics,
            uneven_cases=uneven,
        )
        return accounting(sent, self._receives, lone, self._topics, self._cases)

    def _local(self, frame: DataFrame) -> DataFrame:
        """Compute it once; Spark then knows its size, and folds away joins with nothing."""
        return self._session.createDataFrame(frame.toArrow())

    def _write(self, table: Table, frame: DataFrame) -> DataFrame:
        return write_result(self._session, self._run, table, frame)


def _check_events(run: RunDir, plan: Plan, table: Table) -> int:
    """Spark would read a missing column as nulls, and a folder of another plan as one more case.

    Returns how many rows there are.
    """
    cases, rows = {case.id for case in plan.cases}, 0
    wanted = table.arrow_schema()
    for file in run.list_files(run.events(table.name), ".parquet"):
        case = file.removeprefix(run.events(table.name, "")).partition("/")[0]
        if case not in cases:
            raise CorruptRun(f"{run.url(file)}: is of case {case!r}, which plan.json does not have")
        try:
            with run.open_input(file) as stream:
                metadata = pq.read_metadata(stream)
        except (pa.ArrowException, OSError) as error:
            raise CorruptRun(f"{run.url(file)}: cannot be read as Parquet: {_one_line(error)}") from error
        rows += metadata.num_rows
        found = metadata.schema.to_arrow_schema()
        for field in wanted:
            if field.name not in found.names or found.field(field.name).type != field.type:
                raise CorruptRun(f"{run.url(file)}: column {field.name} is not {field.type}")
    return rows


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
