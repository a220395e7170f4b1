"""Runs whose folder is in an object store: agents write there, whoever asks reads there, by a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from streamgauge.analysis.feeding import sizing
from streamgauge.analysis.pipeline import analyze
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir, runs_in
from tests.cli.streamgauge_command import in_process, streamgauge
from tests.launch.relay import relay
from tests.launch.s3 import BUCKET, S3, environment, s3
from tests.launch.simulated_run import simulate

pytestmark = [pytest.mark.broker, pytest.mark.spark]
_OUT = f"s3a://{BUCKET}/runs"
_SHORT = ("--test-produce-messages", "400", "--test-produce-rate", "2000", "--warm-up-messages", "0")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(autouse=True)
def _may_enter(server: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


def test_an_e2e_is_measured_analysed_and_reported_there_by_a_way_that_breaks(
    kafka: str, server: S3, tmp_path: Path
) -> None:
    out = f"{_OUT}/e2e"
    with relay(server.endpoint, cuts_every=12) as way:
        env = {**server.environment, "AWS_ENDPOINT_URL": way.endpoint}
        e2e = ("e2e", "--bootstrap", kafka, "--out", out, *_SHORT, "--live", "off")
        done = streamgauge(*e2e, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    for cut in (way.unheard, way.unanswered):
        paths = " ".join(path for _, path in cut)
        assert "/events/" in paths, "of agents"
        assert "/results/" in paths, "of the analysis"
    assert not way.asked_for("/live/"), "words of launcher and agents would come too late by this way"
    [run] = runs_in(out)
    assert f"report: {run.location}/report/index.html" in done.stderr
    assert len(list(run.list_files("events/sends", ".parquet"))) == 1
    shown = in_process("results", run.location, "--json", cwd=tmp_path)
    counted = json.loads(shown.stdout)["cases"][0]["accounting"]
    assert (counted["sent"], counted["received"], counted["lost_write"]) == (400, 400, 0)
    assert not list(tmp_path.glob("s3a:*")), "nobody took the URL for a path"


def test_a_sweep_is_measured_analysed_and_reported_there_case_by_case(kafka: str, tmp_path: Path) -> None:
    out = f"{_OUT}/sweep"
    done = streamgauge(
        *("sweep", "--bootstrap", kafka, "--out", out, "--partitions", "1,2", "--stream-size", "6400"),
        *("--message-size", "64", "--acks", "1", "--rate", "3000", "--warm-up-messages", "0"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    [run] = runs_in(out)
    assert f"report: {run.location}/report/index.html" in done.stderr
    assert len(list(run.list_files("events/sends", ".parquet"))) == 3, "of a producer for each partition"
    shown = in_process("results", run.location, "--json", cwd=tmp_path)
    cases = [case["accounting"] for case in json.loads(shown.stdout)["cases"]]
    assert [(case["sent"], case["received"], case["lost_write"]) for case in cases] == [
        (100, 100, 0),
        (200, 200, 0),
    ]
    assert run.id in in_process("runs", "--out", out, cwd=tmp_path).stdout
    assert not list(tmp_path.glob("s3a:*")), "nobody took the URL for a path"


@pytest.mark.parametrize(
    ("rows_here", "is_orderly"),
    [(4_000_000, True), (-1, True), (-1, False)],
    ids=["in the launcher", "by slices", "brought together by Spark"],
)
def test_it_is_analysed_as_one_on_a_disk_is(
    *,
    server: S3,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows_here: int,
    is_orderly: bool,
) -> None:
    for name, value in server.environment.items():
        monkeypatch.setitem(spark.sparkContext.environment, name, value)
    settings = [{"seed": 3, "loss": 0.01, "duplication": 0.01}]
    here, _ = simulate(tmp_path, settings, {"messages": 400, "producers": 2, "consumers": 1, "rate": 1000})
    there = RunDir(f"{_OUT}/copies/{here.id}-{rows_here}-{is_orderly}")
    for file in here.list_files(""):
        there.write_bytes(file, here.local(file).read_bytes())
    analyze(spark, here)
    monkeypatch.setattr(sizing, "_ROWS_HERE", rows_here)
    monkeypatch.setattr(sizing, "_ROWS_BY_THREADS", -1)
    if not is_orderly:
        monkeypatch.setattr("streamgauge.analysis.pipeline.plan_slices", lambda *_: None)
    analyze(spark, there)
    for table in ("accounting", "latency", "throughput", "verdicts", "messages"):
        found = [_rows(run, table) for run in (here, there)]
        assert found[0].equals(found[1]), table
        assert found[0].num_rows


def _rows(run: RunDir, table: str) -> pa.Table:
    parts = []
    for file in run.list_files(run.result(table), ".parquet"):
        with run.open_input(file) as stream:
            parts.append(pq.ParquetFile(stream).read())
    whole = pa.concat_tables(parts, promote_options="permissive")
    names = sorted(whole.column_names)
    rows = whole.select(names).to_pylist()
    rows.sort(key=lambda row: [str(row[name]) for name in names])
    return pa.Table.from_pylist(rows)


def test_broken_connections_are_tried_again(server: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    with relay(server.endpoint, cuts_every=3) as way:
        for name, value in {**server.environment, "AWS_ENDPOINT_URL": way.endpoint}.items():
            monkeypatch.setenv(name, value)
        run = RunDir.create(f"{_OUT}/cut", "cut")
        for number in range(6):
            run.write_bytes(f"events/{number}", bytes(100_000))
        assert [len(run.read_text(f"events/{number}")) for number in range(6)] == [100_000] * 6
        assert way.unheard, "nothing was cut on its way there: the test says nothing"
        assert way.unanswered, "no answer was cut: the test says nothing"


@pytest.mark.parametrize(
    ("out", "who", "words"),
    [
        (_OUT, "of a wrong secret", "ACCESS_DENIED"),
        (_OUT, "who may only read", "functionality that is not implemented"),
        ("s3a://nobodys/runs", "who may do everything", "Bucket 'nobodys' not found"),
    ],
)
def test_a_bucket_without_rights_is_refused_before_anything_is_measured(
    server: S3, tmp_path: Path, out: str, who: str, words: str
) -> None:
    """Of whom S3Proxy lets only read, it says to a write that it is not implemented."""
    users = {"of a wrong secret": environment(server.endpoint, "wrong"), "who may only read": server.reader}
    env = users.get(who, server.environment)
    refused = in_process("e2e", "--bootstrap", "127.0.0.1:9", "--out", out, *_SHORT, cwd=tmp_path, env=env)
    assert refused.returncode == 2
    [line] = refused.stderr.splitlines()
    assert f"--out {out}: cannot make a run folder there: " in line
    assert words in line


def test_who_may_only_read_reads(server: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be no user at all who is refused above."""
    run = RunDir.create(f"{_OUT}/read", "read")
    run.write_text(run.tags, "[]")
    for name, value in server.reader.items():
        monkeypatch.setenv(name, value)
    again = RunDir(run.location)
    assert again.read_text(run.tags) == "[]"
    with pytest.raises(BadInput, match=r"tags\.json: cannot be written: "):
        again.write_text(run.tags, "[1]")
