import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

from streamgauge.analysis import pipeline
from streamgauge.analysis.feeding import sizing
from streamgauge.analysis.pipeline import analyze, analyze_with
from streamgauge.core.errors import CorruptRun, StreamgaugeError
from streamgauge.tables import events
from streamgauge.tables.results import RESULT_TABLES

from .recorded import CaseEvents, Recorded, Results

pytestmark = pytest.mark.spark


def small_run(folder, sends=3):
    run = Recorded(folder)
    case = CaseEvents("small", load={"messages": 3})
    for sequence in range(sends):
        case.send(sequence)
    run.add(case)
    run.write()
    return run


def test_every_table_has_its_columns_and_types(results, recorded):
    for table in RESULT_TABLES:
        found = ds.dataset(recorded.run.url(recorded.run.result(table.name))).schema
        wanted = table.arrow_schema()
        assert found.names == wanted.names
        assert found.types == wanted.types


def test_small_tables_are_one_file(results, recorded):
    for table in RESULT_TABLES[1:]:
        files = list(recorded.run.list_files(recorded.run.result(table.name), ".parquet"))
        assert len(files) == 1


def test_no_value_is_null_that_may_not_be(results, recorded):
    for table in RESULT_TABLES:
        rows = ds.dataset(recorded.run.url(recorded.run.result(table.name))).to_table()
        for column in table.columns:
            assert column.nullable or rows[column.name].null_count == 0, (table.name, column.name)


def test_a_run_without_receives_samples_and_marks_and_again(session, tmp_path):
    """A second analysis overwrites the first and gives the same."""
    run = small_run(tmp_path)
    first, second = run.analyze(session), run.analyze(session)

    assert first.row("accounting", "small", scope="case")["unseen"] == 3
    assert (
        first.rows("resources", "small") == first.rows("cpu", "small") == first.rows("clocks", "small") == []
    )
    for table in RESULT_TABLES:
        assert first.rows(table.name, "small") == second.rows(table.name, "small")


def test_a_small_run_needs_no_spark(tmp_path):
    """Planning a query takes longer than the whole of it."""

    def spark():
        raise AssertionError("Spark was asked for")

    run = small_run(tmp_path)
    analyze_with(spark, run.run)

    assert Results(run).row("accounting", "small", scope="case")["unseen"] == 3


def test_a_run_without_any_events(session, tmp_path):
    run = small_run(tmp_path, sends=0)
    found = run.analyze(session)

    assert found.rows("messages", "small") == found.rows("accounting", "small") == []
    assert found.row("verdicts", "small")["bottleneck"] == "none"


def in_pieces(monkeypatch):
    """As runs are that are not small."""
    monkeypatch.setattr(sizing, "_ROWS_IN_ONE_PIECE", -1)
    monkeypatch.setattr(pipeline, "feed_here", None)


def by_threads(monkeypatch):
    """As runs are that take this process a minute."""
    monkeypatch.setattr(sizing, "_ROWS_HERE", -1)
    monkeypatch.setattr(pipeline, "feed_by_cogroup", None)
    monkeypatch.setattr(pipeline, "SparkTasks", None)


def by_spark(monkeypatch):
    """As large runs are whose events lie in order."""
    monkeypatch.setattr(sizing, "_ROWS_HERE", -1)
    monkeypatch.setattr(sizing, "_ROWS_BY_THREADS", -1)
    monkeypatch.setattr(pipeline, "feed_by_cogroup", None)
    monkeypatch.setattr(pipeline, "ThreadTasks", None)


def in_no_order(monkeypatch):
    """As large runs are whose events lie in none."""
    by_spark(monkeypatch)
    monkeypatch.setattr(pipeline, "plan_slices", lambda *_: None)


def by_cogroup(monkeypatch):
    """As large runs are of which much is damaged."""
    monkeypatch.setattr(sizing, "_ROWS_HERE", -1)
    monkeypatch.setattr(pipeline, "survey_by_tasks", lambda *_: None)


@pytest.mark.parametrize("way", [in_pieces, by_threads, by_spark, in_no_order, by_cogroup])
def test_whichever_way_messages_are_fed_the_tables_are_the_same(session, recorded, results, monkeypatch, way):
    way(monkeypatch)
    again = recorded.analyze(session)

    def by_key(rows):
        return sorted(rows, key=lambda row: (row["producer"], row["sequence"]))

    for case in recorded.cases.values():
        assert by_key(again.rows("messages", case.name)) == by_key(results.rows("messages", case.name))
        for table in RESULT_TABLES[1:]:
            assert again.rows(table.name, case.name) == results.rows(table.name, case.name)


def sends_file(run):
    return run.run.local(run.run.event_file("sends", "001", "agent", 0))


@pytest.mark.parametrize("keep", [0, 3, 100, -10])
def test_a_truncated_file_is_named(session, tmp_path, keep):
    run = small_run(tmp_path)
    file = sends_file(run)
    file.write_bytes(file.read_bytes()[:keep])

    with pytest.raises(
        CorruptRun, match=r"case=001/agent-00000\.parquet: cannot be read as Parquet"
    ) as error:
        analyze(session, run.run)
    assert "\n" not in str(error.value)


def test_damage_inside_a_file_is_found_while_reading(session, tmp_path):
    run = small_run(tmp_path)
    file = sends_file(run)
    content = bytearray(file.read_bytes())
    content[4:200] = b"\xff" * 196
    file.write_bytes(content)

    with pytest.raises(
        CorruptRun, match=r"case=001/agent-00000\.parquet: cannot be read as Parquet"
    ) as error:
        analyze(session, run.run)
    assert "\n" not in str(error.value)


def test_a_file_with_other_columns_is_named(session, tmp_path):
    run = small_run(tmp_path)
    pq.write_table(pa.table({"producer": pa.array([1], pa.int32())}), sends_file(run))

    with pytest.raises(CorruptRun, match=r"agent-00000\.parquet: column sequence is not int64"):
        analyze(session, run.run)


def test_a_case_that_is_not_planned_is_named(session, tmp_path):
    run = small_run(tmp_path)
    run._write_rows(events.SENDS, "999", run.cases["001"].sends)

    with pytest.raises(CorruptRun, match=r"case '999', which plan\.json does not have"):
        analyze(session, run.run)


def test_results_are_read_by_case_name(results):
    assert isinstance(results, Results)
    assert results.row("verdicts", "clean")["case"] == "001"


@pytest.mark.parametrize(
    ("told", "words", "exit_code"),
    [
        ("Task failed.\nCaused by: java.io.IOException: No space left on device", "the disk is full", 2),
        ("Job aborted.\n\tat org.apache", r"the analysis failed: Job aborted\.; --debug", 1),
        ("", "Spark did not say why", 1),
    ],
)
def test_what_spark_says_becomes_one_line(session, recorded, monkeypatch, told, words, exit_code):
    def fail(*_):
        raise PySparkException(told)

    monkeypatch.setattr(pipeline, "_analyze_messages", fail)
    with pytest.raises(StreamgaugeError, match=words) as caught:
        analyze(session, recorded.run)
    assert str(caught.value).startswith(recorded.run.location)
    assert (caught.value.exit_code, len(str(caught.value).splitlines())) == (exit_code, 1)
