from __future__ import annotations

from pathlib import Path

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

from streamgauge.analysis.feeding import sizing
from streamgauge.analysis.feeding.packing import PACKS_FOLDER, cuts_of, packed_slices
from streamgauge.analysis.feeding.row_group_tasks import survey_by_tasks
from streamgauge.analysis.feeding.slices import BEYOND, Cutting, RowGroup, plan_slices
from streamgauge.analysis.feeding.tasks import ThreadTasks
from streamgauge.analysis.pipeline import analyze
from streamgauge.core.run_dir import RunDir
from tests.analysis.recorded import CaseEvents, Recorded

from .test_feeding import Events, rows

NARROW = Cutting(block=2, rows=4, most_rows=16, most_read=2.0)


def group(table: str, number: int, producers: tuple[int, int] | None, rows: int = 100_000) -> RowGroup:
    return RowGroup(table, "001", f"{number}.parquet", 0, rows, producers, (0, 1))


def test_pieces_have_as_many_rows_whatever_the_number_of_producers() -> None:
    few, many = (
        cuts_of([group("sends", n, (n, n), 1_000_000) for n in range(producers)], Cutting())["001"]
        for producers in (4, 500)
    )
    assert few.width * few.producers == many.width * many.producers == 8 * 131_072
    assert few.producers >= 4, "all of them"
    small = cuts_of([group("sends", 0, (0, 9)), group("receives", 1, None)], Cutting())["001"]
    assert small == (BEYOND, BEYOND)


def test_more_producers_than_slices_have_room_for_are_read_once_and_packed(tmp_path: Path) -> None:
    case = CaseEvents("many", load={"messages": 240, "producers": 30})
    for sequence in range(8):
        for producer in range(30):
            case.receive(case.send(sequence, producer=producer))
    events = Events(tmp_path, [case])
    assert plan_slices(events.groups, NARROW) is None

    slices = packed_slices(ThreadTasks(2), events.run, events.groups, NARROW)

    assert {one.rows for one in slices} == {8}, "two producers, two sequences, sent and received"
    assert sum(one.rows for one in slices) == 480
    assert {one.producers for one in slices} == {(n, n + 2) for n in range(0, 30, 2)}
    assert survey_by_tasks(ThreadTasks(2), events.run, events.groups, NARROW) is not None


@pytest.mark.spark
def test_a_run_in_no_order_is_analysed_without_a_shuffle_and_leaves_no_packs(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the whole pipeline: what a run of few gives here, it gives when it counts as a large one."""

    def results(run: RunDir) -> list[object]:
        analyze(spark, run)
        return [
            rows(ds.dataset(run.url(run.result(table))).to_table())
            for table in ("messages", "accounting", "latency")
        ]

    case = CaseEvents("many", load={"messages": 60, "producers": 30})
    for sequence in (1, 0):
        for producer in range(30):
            case.receive(case.send(sequence, producer=producer))
    recorded = Recorded(tmp_path)
    recorded.add(case)
    recorded.write(3)
    expected = results(recorded.run)

    monkeypatch.setattr(sizing, "_ROWS_HERE", -1)
    monkeypatch.setattr(sizing, "_ROWS_BY_THREADS", -1)
    monkeypatch.setattr("streamgauge.analysis.pipeline.plan_slices", lambda *_: None)
    monkeypatch.setattr(
        "streamgauge.analysis.pipeline.feed_by_cogroup", lambda *_: pytest.fail("that is the slow way")
    )
    assert results(recorded.run) == expected
    assert not recorded.run.has(PACKS_FOLDER)
