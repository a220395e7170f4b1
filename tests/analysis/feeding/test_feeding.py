"""However events are fed to the kernel, and wherever they are cut, the tables are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from streamgauge.analysis.accounting import accounting
from streamgauge.analysis.clocks import agent_clocks
from streamgauge.analysis.feeding import cogroup
from streamgauge.analysis.feeding.cogroup import feed_by_cogroup
from streamgauge.analysis.feeding.event_files import checked_events
from streamgauge.analysis.feeding.fed import NO_CLOCKS, Fed
from streamgauge.analysis.feeding.here import feed_here, join_case, join_slices
from streamgauge.analysis.feeding.packing import packed_slices
from streamgauge.analysis.feeding.row_group_tasks import feed_by_tasks, survey_by_tasks
from streamgauge.analysis.feeding.slices import Cutting, plan_slices
from streamgauge.analysis.feeding.tasks import SparkTasks, Tasks, ThreadTasks
from streamgauge.analysis.latency import histogram, latency
from streamgauge.analysis.ranges import ranges
from streamgauge.analysis.runtimes import runtimes
from streamgauge.analysis.storage import read_few_events
from streamgauge.analysis.throughput import throughput
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan, read_plan
from streamgauge.tables.events import MARKS, RECEIVES, SENDS
from streamgauge.tables.results import MESSAGES
from tests.analysis.joining.random_events import random_cases
from tests.analysis.recorded import CaseEvents, Recorded
from tests.proof import tries

TINY = Cutting(block=2, rows=4, most_rows=1 << 40, most_read=1e9, most_buckets=5)
"""Every few messages another piece, so that every boundary is met."""
_ROWS_A_GROUP = 3


class Events:
    """A run folder with these cases, and all that feeding takes."""

    def __init__(self, folder: Path, cases: list[CaseEvents]) -> None:
        recorded = Recorded(folder)
        for case in cases:
            recorded.add(case)
        recorded.write(_ROWS_A_GROUP)
        self.run: RunDir = recorded.run
        self.plan: Plan = read_plan(self.run)
        self.groups = [
            group for table in (SENDS, RECEIVES) for group in checked_events(self.run, self.plan, table)
        ]
        self.clocks = agent_clocks(read_few_events(self.run, MARKS).to_pylist())
        self.rolled_to = {case.id: 0 for case in self.plan.cases[:1]}
        """Of the first case something was rolled up, but nothing beyond its first second."""

    def here(self) -> dict[str, list[Any]]:
        return self._tables(feed_here(self.run, self.plan, self.groups, self.clocks, self.rolled_to))

    def by_tasks(self, tasks: Tasks) -> dict[str, list[Any]]:
        slices = plan_slices(self.groups, TINY)
        survey = survey_by_tasks(tasks, self.run, self.groups, TINY)
        assert slices is not None
        assert survey is not None
        return self._tables(
            feed_by_tasks(tasks, self.run, self.plan, slices, survey, self.clocks, TINY, self.rolled_to)
        )

    def by_packs(self, tasks: Tasks) -> dict[str, list[Any]]:
        survey = survey_by_tasks(tasks, self.run, self.groups, TINY)
        assert survey is not None
        slices = packed_slices(tasks, self.run, self.groups, TINY)
        assert sum(one.rows for one in slices) <= sum(group.rows for group in self.groups)
        return self._tables(
            feed_by_tasks(tasks, self.run, self.plan, slices, survey, self.clocks, TINY, self.rolled_to)
        )

    def by_cogroup(self, session: SparkSession) -> dict[str, list[Any]]:
        return self._tables(
            feed_by_cogroup(session, self.run, self.plan, self.groups, self.clocks, TINY, self.rolled_to)
        )

    def _tables(self, fed: Fed) -> dict[str, list[Any]]:
        messages = ds.dataset(self.run.url(self.run.result(MESSAGES.name))).to_table()
        return {
            "starts": sorted(fed.starts_ns.items()),
            "messages": rows(messages),
            "latency": rows(fed.latency),
            "histogram": rows(fed.histogram),
            "to be added": rows(latency(fed.buckets)),
            "accounting": rows(accounting(fed.cells, fed.strays)),
            **{make.__name__: rows(make(fed.cells)) for make in (ranges, runtimes, throughput)},
        }


def rows(table: pa.Table) -> list[Any]:
    """In an order that does not depend on how they came about."""
    plain = [tuple(sorted(row.items())) for row in table.to_pylist()]
    return sorted(plain, key=repr)


@pytest.mark.proof
@tries(usual=30, proof=2_000)
@given(random_cases(most=30))
def test_a_case_in_slices_is_that_case(tmp_path_factory: pytest.TempPathFactory, case: CaseEvents) -> None:
    events = Events(tmp_path_factory.mktemp("slices"), [case])
    planned, clocks = events.plan.cases[0], events.clocks.get("001", NO_CLOCKS)
    whole = join_case(events.run, planned, events.groups, clocks)
    sliced = join_slices(events.run, planned, events.groups, clocks, TINY)

    slices = plan_slices(events.groups, TINY)
    assert slices is not None
    assert len(slices) > 1 or max((send["sequence"] for send in case.sends), default=0) < 2 * TINY.rows
    assert whole.start_ns == sliced.start_ns
    for make in (ranges, runtimes, throughput):
        assert rows(make(whole.joined.cells)) == rows(make(sliced.joined.cells))
    assert rows(accounting(whole.joined.cells, whole.strays)) == rows(
        accounting(sliced.joined.cells, sliced.strays)
    )
    for of_buckets in (latency, histogram):
        assert rows(of_buckets(whole.joined.buckets)) == rows(of_buckets(sliced.joined.buckets))


@pytest.mark.spark
@pytest.mark.proof
@tries(usual=2, proof=40)
@given(st.lists(random_cases(least=10, most=25), min_size=3, max_size=5))
def test_all_ways_of_feeding_give_the_same_tables(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession, cases: list[CaseEvents]
) -> None:
    events = Events(tmp_path_factory.mktemp("feeding"), cases)
    expected = events.here()

    for tasks in (SparkTasks(spark), ThreadTasks(2)):
        assert events.by_tasks(tasks) == expected
        assert events.by_packs(tasks) == expected
    assert events.by_cogroup(spark) == expected


@pytest.fixture
def damaged(tmp_path: Path) -> Events:
    """Half of what came is damaged, at known places and at others."""
    case = CaseEvents("damaged", load={"messages": 20})
    for sequence in range(20):
        send = case.send(sequence)
        case.receive(send, state=sequence % 4 // 2, offset=send["offset"] + (sequence % 4 == 3) * 100)
    return Events(tmp_path, [case])


@pytest.mark.spark
def test_more_damage_than_can_be_taken_along_is_joined_by_its_place(
    damaged: Events, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = damaged.here()
    monkeypatch.setattr(cogroup, "MOST_DAMAGE", 1)

    assert damaged.by_cogroup(spark) == expected


def test_too_much_damage_is_nothing_for_tasks(damaged: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    assert survey_by_tasks(ThreadTasks(2), damaged.run, damaged.groups) is not None
    monkeypatch.setattr("streamgauge.analysis.feeding.row_group_tasks.MOST_DAMAGE", 1)
    assert survey_by_tasks(ThreadTasks(2), damaged.run, damaged.groups) is None


@pytest.mark.spark
def test_more_producers_than_a_piece_has_room_for(tmp_path: Path, spark: SparkSession) -> None:
    """Pieces are of a few producers then."""
    case = CaseEvents("many", load={"messages": 90, "producers": 30})
    for sequence in range(3):
        for producer in range(30):
            case.receive(case.send(sequence, producer=producer))
    events = Events(tmp_path, [case])
    expected = events.here()

    assert events.by_packs(ThreadTasks(2)) == expected
    assert events.by_cogroup(spark) == expected
