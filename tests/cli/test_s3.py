"""Runs whose folder is in an object store: agents write there, whoever asks reads there, by a real server."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from streamgauge.analysis.feeding import sizing
from streamgauge.analysis.pipeline import analyze
from streamgauge.core.run_dir import RunDir, runs_in
from tests.cli.streamgauge_command import in_process, streamgauge
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


def test_a_run_is_measured_analysed_and_reported_there_case_by_case(kafka: str, tmp_path: Path) -> None:
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
    with _cutting(server.endpoint, every=3) as (endpoint, cut):
        for name, value in {**server.environment, "AWS_ENDPOINT_URL": endpoint}.items():
            monkeypatch.setenv(name, value)
        run = RunDir.create(f"{_OUT}/cut", "cut")
        for number in range(6):
            run.write_bytes(f"events/{number}", bytes(100_000))
        assert [len(run.read_text(f"events/{number}")) for number in range(6)] == [100_000] * 6
        assert cut, "nothing was cut: the test says nothing"


@contextmanager
def _cutting(endpoint: str, every: int) -> Iterator[tuple[str, list[int]]]:
    """A way to the server on which every so many connections are broken off after their first piece."""
    cut: list[int] = []
    server = urlsplit(endpoint)
    there = (str(server.hostname), int(server.port or 80))
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            number = 0
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                number += 1
                is_cut = number % every == 0
                if is_cut:
                    cut.append(number)
                threading.Thread(target=_carry, args=(client, there, is_cut), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", cut


def _carry(client: socket.socket, there: tuple[str, int], is_cut: bool) -> None:
    with client:
        if is_cut:
            client.recv(100)
            return
        with socket.create_connection(there) as server:
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join(10)


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.mark.parametrize(
    ("out", "secret", "words"),
    [
        (_OUT, "wrong", "ACCESS_DENIED"),
        ("s3a://nobodys/runs", None, "Bucket 'nobodys' not found"),
    ],
)
def test_a_bucket_without_rights_is_refused_before_anything_is_measured(
    server: S3, tmp_path: Path, out: str, secret: str | None, words: str
) -> None:
    env = environment(server.endpoint, secret) if secret else {}
    refused = in_process("e2e", "--bootstrap", "127.0.0.1:9", "--out", out, *_SHORT, cwd=tmp_path, env=env)
    assert refused.returncode == 2
    assert f"--out {out}: cannot make a run folder there: " in refused.stderr
    assert words in refused.stderr
