from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from streamgauge.analysis.feeding import sizing
from streamgauge.analysis.pipeline import analyze
from streamgauge.core import run_dir
from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.other_schemes import other_schemes, use_for_other_schemes
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.launch.agents_folder import agents_folder
from streamgauge.launch.hadoop_files import open_hadoop_files
from streamgauge.launch.hadoop_java import check_folders_scheme
from tests.cli.streamgauge_command import in_process, streamgauge

from .hdfs import hdfs
from .simulated_run import simulate

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    before = list(other_schemes)
    use_for_other_schemes(open_hadoop_files)
    with hdfs(tmp_path_factory.mktemp("hdfs")) as found:
        yield found
    other_schemes[:] = before


@pytest.fixture
def run(address: str) -> RunDir:
    run = RunDir.create(f"{address}/some/runs", "e2e")
    run.write_json(run.plan, {"first": True})
    return run


def test_a_run_folder_on_hdfs_is_one_like_any_other(address: str, run: RunDir) -> None:
    assert run.location.startswith(f"{address}/some/runs/")
    assert (run.is_behind_spark, run.is_local, run.is_quick) == (True, False, False)
    run.write_json(run.plan, {"again": "ä"})
    assert RunDir.open(run.location).read_json(run.plan) == {"again": "ä"}
    assert run in runs_in(f"{address}/some/runs")
    run.write_bytes("events/sends/case=001/a-00000.parquet", b"x" * 3_000_000)
    run.write_text("events/sends/case=002/b.txt", "")
    assert list(run.list_files("events")) == [
        "events/sends/case=001/a-00000.parquet",
        "events/sends/case=002/b.txt",
    ]
    with run.open_input("events/sends/case=001/a-00000.parquet") as stream:
        stream.seek(2_999_999)
        assert (stream.read(), stream.size()) == (b"x", 3_000_000)
    run.remove("events")
    assert list(run.list_files("events")) == []
    assert not run.has("events")
    with pytest.raises(CorruptRun, match="missing from the run folder"):
        run.read_text("nothing.txt")


def test_what_agents_wrote_is_carried_over(run: RunDir) -> None:
    with agents_folder(run, None) as folder:
        theirs = RunDir(folder.run)
        assert theirs.is_local
        assert theirs.id == run.id, "agents name groups and transactions by it"
        theirs.write_text(run.event_file("sends", "001", "producer-0", 0), "rows")
        theirs.write_text(run.manifest("001", "producer-0"), "{}")
        folder.carry_over(run)
        assert list(theirs.list_files("events")) == []
    assert run.read_text(run.event_file("sends", "001", "producer-0", 0)) == "rows"
    assert run.has(run.manifest("001", "producer-0"))
    assert not Path(folder.run).exists()


def test_what_is_not_there_is_known_beside_a_spark_session(run: RunDir, spark: SparkSession) -> None:
    """PySpark asks its own Java about all exceptions, and this one is of another Java."""
    assert spark.range(3).count() == 3
    assert not run.has("nothing")
    assert list(run.list_files("nothing")) == []
    with pytest.raises(CorruptRun, match="missing from the run folder"):
        run.read_text("nothing")
    with pytest.raises(BadInput, match=r"other://: Spark has no file system"):
        check_folders_scheme("other://bucket/runs")


@pytest.mark.parametrize("small_rows", [300_000, -1], ids=["in the driver", "in tasks"])
def test_a_run_there_is_analysed_as_one_on_a_disk_is(
    address: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_rows: int
) -> None:
    monkeypatch.setattr(sizing, "_ROWS_HERE", small_rows)
    settings = [{"seed": 3, "loss": 0.01, "duplication": 0.01}]
    here, _ = simulate(tmp_path, settings, {"messages": 400, "producers": 2, "consumers": 1, "rate": 1000})
    there = RunDir(f"{address}/copies/{here.id}-{small_rows}")
    for file in here.list_files(""):
        there.write_bytes(file, here.local(file).read_bytes())
    for run in (here, there):
        analyze(spark, run)
    tables = ("accounting", "latency", "throughput", "verdicts")
    for table in tables:
        found = [_rows(run, table) for run in (here, there)]
        assert found[0] == found[1]
        assert found[0]


def _rows(run: RunDir, table: str) -> list[dict[str, Any]]:
    [file] = run.list_files(run.result(table), ".parquet")
    with run.open_input(file) as stream:
        rows: list[dict[str, Any]] = pq.ParquetFile(stream).read().to_pylist()
    return rows


def test_a_scheme_without_a_file_system_is_said_before_anything_is_measured() -> None:
    with pytest.raises(BadInput, match=r"nosuch://: Spark has no file system for it .*spark\.jars\.packages"):
        check_folders_scheme("nosuch://bucket/runs")
    check_folders_scheme("runs")
    check_folders_scheme("file:///tmp")


def test_an_hdfs_that_is_not_there_is_said_in_one_line(address: str) -> None:
    with pytest.raises(
        BadInput, match=r"--out hdfs://127\.0\.0\.1:9/runs: cannot make a run folder"
    ) as caught:
        RunDir.create("hdfs://127.0.0.1:9/runs", "e2e")
    assert "\n" not in str(caught.value)


def test_only_the_launcher_gets_there(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_dir, "other_schemes", [])
    with pytest.raises(BadInput, match="only the launcher has Spark's file systems"):
        RunDir(run.location).has(run.plan)


@pytest.mark.broker
def test_a_run_is_measured_analysed_and_reported_there(kafka: str, address: str, tmp_path: Path) -> None:
    out = f"{address}/whole/runs"
    done = streamgauge(
        *(
            "e2e",
            "--bootstrap",
            kafka,
            "--out",
            out,
            "--test-produce-messages",
            "2000",
        ),
        *("--test-produce-rate", "2000", "--warm-up-messages", "0"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    [run] = runs_in(out)
    assert f"report: {run.location}/report/index.html" in done.stderr
    assert len(list(run.list_files("events/sends", ".parquet"))) == 1
    # What a process needs to get there is the same for all commands; these three go by ours.
    shown = in_process("results", run.location, "--json", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    counted = json.loads(shown.stdout)["cases"][0]["accounting"]
    assert (counted["sent"], counted["received"], counted["lost_write"]) == (2000, 2000, 0)
    run.remove("results")
    run.remove("report")
    assert in_process("analyze", run.location, cwd=tmp_path).returncode == 0
    assert in_process("report", run.location, cwd=tmp_path).returncode == 0
    assert run.read_text(run.report_page).rstrip().endswith("</html>")
    assert len(run.read_text(run.report_page)) > 50_000, "with its plots, and what draws them"
    again = json.loads(run.read_text(run.results_document))["cases"][0]["accounting"]
    assert again == counted
    assert not (tmp_path / "hdfs:").exists(), "nobody took the URL for a path"
