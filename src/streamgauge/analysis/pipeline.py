"""Events → results: the only place of the analysis that reads and writes.

Messages are fed to the kernel by how many there are and how they lie in their files: as a whole, by tasks
that read slices, or by tasks that put them in order first. Tasks are threads of this process where Spark has
only this machine and there is little to do, else Spark's. All other tables are made of what comes of it,
which is little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamgauge.analysis.accounting import accounting
from streamgauge.analysis.case_figures import Beside, Tables, case_figures
from streamgauge.analysis.clocks import agent_clocks, clocks
from streamgauge.analysis.compression import compression_ratios
from streamgauge.analysis.cpu import cpu
from streamgauge.analysis.fault_figures import fault_figures
from streamgauge.analysis.feeding.cogroup import feed_by_cogroup
from streamgauge.analysis.feeding.event_files import checked_events
from streamgauge.analysis.feeding.fed import Fed
from streamgauge.analysis.feeding.here import feed_here
from streamgauge.analysis.feeding.packing import PACKS_FOLDER, packed_slices
from streamgauge.analysis.feeding.row_group_tasks import feed_by_tasks, survey_by_tasks, tasks_reach
from streamgauge.analysis.feeding.sizing import (
    helps_in_pieces,
    is_done_by_threads,
    is_done_here,
    sized_for,
)
from streamgauge.analysis.feeding.slices import FINE, USUAL, Cutting, RowGroup, plan_slices
from streamgauge.analysis.feeding.tasks import SparkTasks, Tasks, ThreadTasks
from streamgauge.analysis.joining.facts import AgentClocks
from streamgauge.analysis.noise_floor import noise_floors_ms
from streamgauge.analysis.ranges import ranges
from streamgauge.analysis.resources import resources
from streamgauge.analysis.result_rows import write_rows
from streamgauge.analysis.rolling.merging import merged, rolled_to, rolled_up_cases
from streamgauge.analysis.runtimes import runtimes
from streamgauge.analysis.storage import read_few_events
from streamgauge.analysis.throughput import throughput
from streamgauge.analysis.verdicts import verdicts
from streamgauge.analysis.verifying.verify import verify
from streamgauge.core.errors import BadInput, CorruptRun, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import note_analysis, read_status
from streamgauge.plan.family_tables import event_tables_of
from streamgauge.plan.plan_file import Plan, read_plan
from streamgauge.plan.roll_up_file import RollUp
from streamgauge.spec.families import family_of
from streamgauge.tables import events, results

_FAILED_FILE = re.compile(r"(?:file|path)[:=]? *'?(?P<file>[a-z0-9]+:/[^\s'\"]+\.parquet)", re.IGNORECASE)


_CORRUPT = re.compile(r"CorruptRun: (?P<words>.+)")
"""Said by a task of ours, within all that Spark says of it."""


def analyze(session: SparkSession, run: RunDir) -> None:
    """Compute every result table of the run, whatever was computed before."""
    analyze_with(lambda: session, run)


def analyze_with(spark: Callable[[], SparkSession], run: RunDir) -> None:
    """The same; Spark is asked for only when there is so much that it helps."""
    plan = read_plan(run)
    note_analysis(run, is_done=False)
    own = family_of(plan.kind).analysis_by()
    tables = event_tables_of(plan.kind)
    rolled = rolled_up_cases(run, plan)  # finished before anybody looks at event files
    found = [group for table in tables for group in checked_events(run, plan, table)]
    try:
        if own is None:
            _analyze_messages(spark, run, plan, found, rolled)
        else:
            with ExitStack() as sized:
                own(_sized(spark, sized, sum(group.rows for group in found)), run, plan)
    except (PySparkException, Py4JError) as error:
        raise _why_not(run, str(error)) from error
    note_analysis(run, is_done=True)


def _sized(spark: Callable[[], SparkSession], until: ExitStack, rows: int) -> Callable[[], SparkSession]:
    """A session that has settings for so many events, however often it is asked for."""

    @cache
    def session() -> SparkSession:
        started = spark()
        until.enter_context(sized_for(started, rows))
        return started

    return session


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


def _analyze_messages(
    spark: Callable[[], SparkSession],
    run: RunDir,
    plan: Plan,
    found: Sequence[RowGroup],
    rolled: Mapping[str, RollUp],
) -> None:
    """The tables in the order in which they need each other."""
    plan = _with_ends(run, plan)
    samples, marks = (read_few_events(run, table) for table in (events.SAMPLES, events.MARKS))
    moments = marks.to_pylist()
    fed = _feed(spark, run, plan, found, agent_clocks(moments), rolled_to(run, rolled))
    fed = merged(run, plan, fed, rolled, of_messages(found))
    counted = write_rows(run, results.ACCOUNTING, accounting(fed.cells, fed.strays))
    write_rows(run, results.HISTOGRAM, fed.histogram)
    write_rows(run, results.RANGES, ranges(fed.cells))
    write_rows(run, results.RUNTIMES, runtimes(fed.cells))
    without_pace = [case.id for case in plan.cases if case.load.rate == "unlimited"]
    tables = Tables(
        cells=fed.cells,
        accounting=counted,
        latency=write_rows(run, results.LATENCY, fed.latency),
        throughput=write_rows(run, results.THROUGHPUT, throughput(fed.cells, without_pace)),
        cpu=write_rows(run, results.CPU, cpu(samples, moments, counted)),
        resources=write_rows(run, results.RESOURCES, resources(samples, moments, fed.starts_ns)),
        clocks=write_rows(run, results.CLOCKS, clocks(moments)),
    )
    found_beside = Beside(compression_ratios(run, plan), noise_floors_ms(run, plan))
    verified = verify(run, plan, of_messages(found), rolled)
    judged = verdicts(case_figures(plan, read_status(run), tables, found_beside), verified.by_case)
    for table, rows in zip((results.VERDICTS, results.CAUSES), judged, strict=True):
        write_rows(run, table, pa.Table.from_pylist(rows, schema=table.arrow_schema()))
    fault_figures(run, plan, fed.starts_ns, verified.written_again)


def _with_ends(run: RunDir, plan: Plan) -> Plan:
    """The same, with what is known of how cases ended."""
    ended = read_status(run).cases
    whole = {name for name, status in ended.items() if status.is_whole}
    cases = tuple(case.model_copy(update={"is_whole": case.id in whole}) for case in plan.cases)
    return plan.model_copy(update={"cases": cases})


def of_messages(found: Sequence[RowGroup]) -> list[RowGroup]:
    return [group for group in found if group.table in (events.SENDS.name, events.RECEIVES.name)]


def _feed(
    spark: Callable[[], SparkSession],
    run: RunDir,
    plan: Plan,
    found: Sequence[RowGroup],
    clocks_of: dict[str, AgentClocks],
    rolled_to: Mapping[str, int],
) -> Fed:
    messages = of_messages(found)
    rows = sum(group.rows for group in messages)

    def by_tasks(tasks: Tasks, cutting: Cutting = USUAL) -> Fed | None:
        return _feed_by_tasks(tasks, run, plan, messages, clocks_of, rolled_to, cutting)

    if is_done_here(rows):
        in_pieces = None
        if helps_in_pieces(rows, len(plan.cases)) and not run.is_behind_spark:
            in_pieces = by_tasks(ThreadTasks.of_this_machine(), FINE)
        return in_pieces or feed_here(run, plan, messages, clocks_of, rolled_to)
    session = spark()
    here = is_done_by_threads(rows, session) and not run.is_behind_spark
    with sized_for(session, rows):
        fed = by_tasks(ThreadTasks.of_this_machine() if here else SparkTasks(session))
        return fed or feed_by_cogroup(session, run, plan, messages, clocks_of, rolled_to=rolled_to)


def _feed_by_tasks(
    tasks: Tasks,
    run: RunDir,
    plan: Plan,
    messages: Sequence[RowGroup],
    clocks_of: dict[str, AgentClocks],
    rolled_to: Mapping[str, int],
    cutting: Cutting,
) -> Fed | None:
    """None where tasks do not reach the run folder, or too much is damaged."""
    survey = survey_by_tasks(tasks, run, messages, cutting) if tasks_reach(tasks, run) else None
    if survey is None:
        return None
    slices = plan_slices(messages, cutting)
    try:
        if slices is None:
            slices = packed_slices(tasks, run, messages, cutting)
        return feed_by_tasks(tasks, run, plan, slices, survey, clocks_of, cutting, rolled_to)
    finally:
        run.remove(PACKS_FOLDER)
