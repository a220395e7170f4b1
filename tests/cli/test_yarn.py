"""Agents and the analysis in containers of a real YARN, which share a folder or an object store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.run_dir import RunDir, runs_in
from tests.cli.streamgauge_command import DEADLINE_S
from tests.launch.relay import Relay, relay
from tests.launch.s3 import BUCKET, S3, s3
from tests.launch.yarn import spark_settings, yarn

pytestmark = [pytest.mark.broker, pytest.mark.spark]

_AS_IF_MUCH = """
from streamgauge.analysis.feeding import sizing
from streamgauge.cli.main import main
sizing._ROWS_HERE = -1  # nothing is so little that the launcher does it alone
main()
"""


@dataclass(frozen=True)
class Cluster:
    folder: Path
    where: dict[str, str]
    """What a launcher needs to know of it, in its environment."""
    store: S3
    way: Relay
    """By which containers, and nobody else, come to the object store."""

    def run(self, *arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, "-c", _AS_IF_MUCH, *arguments, "--master", "yarn", "--live", "off"],
            env={**os.environ, **self.where, **self.store.environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def containers(self) -> list[Path]:
        """Of all runs until now."""
        logs = self.folder / "logs"
        return sorted(logs.glob("*/*"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder, spark = tmp_path_factory.mktemp("yarn"), tmp_path_factory.mktemp("spark")
    with s3(tmp_path_factory.mktemp("s3")) as store, relay(store.endpoint) as way, yarn(folder) as conf:
        theirs = {**store.environment, "AWS_ENDPOINT_URL": way.endpoint}
        on_executors = "".join(f"spark.executorEnv.{name} {value}\n" for name, value in theirs.items())
        (spark / "spark-defaults.conf").write_text(spark_settings() + on_executors)
        where = {
            "HADOOP_CONF_DIR": str(conf),
            "SPARK_CONF_DIR": str(spark),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        }
        yield Cluster(folder, where, store, way)


def test_a_run_is_measured_and_analysed_on_yarn(cluster: Cluster, kafka: str, tmp_path: Path) -> None:
    out, before = (tmp_path / "runs").as_uri(), len(cluster.containers())
    cluster.run(
        *("e2e", "--bootstrap", kafka, "--out", out, "--warm-up-messages", "0"),
        *("--test-produce-messages", "1000", "--test-produce-rate", "1000"),
    )
    [run] = runs_in(out)
    assert counts(run) == [(1000, 1000, 0)]
    # One container of the application's own, one for each agent, on a node manager of ours.
    assert len(cluster.containers()) - before == 3
    assert cluster.way.asked == [], "nothing of this run is in the object store"


def test_a_sweep_is_measured_and_analysed_on_yarn_in_an_object_store(
    cluster: Cluster, kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = f"s3a://{BUCKET}/on-yarn"
    cluster.run(
        *("sweep", "--bootstrap", kafka, "--out", out, "--partitions", "1", "--stream-size", "6400"),
        *("--message-size", "64,128", "--acks", "1", "--rate", "1000", "--warm-up-messages", "0"),
    )
    for name, value in cluster.store.environment.items():
        monkeypatch.setenv(name, value)
    [run] = runs_in(out)
    assert counts(run) == [(100, 100, 0), (50, 50, 0)]
    for table in ("events/sends/case=", "events/receives/case="):
        asked = cluster.way.asked_for(table)
        assert asked & {"PUT", "POST"}, f"agents write {table} themselves"
        assert "GET" in asked, f"tasks of the analysis read {table} themselves"


def counts(run: RunDir) -> list[tuple[Any, Any, Any]]:
    cases = json.loads(run.read_text(run.results_document))["cases"]
    found = [case["accounting"] for case in cases]
    return [(case["sent"], case["received"], case["lost_write"]) for case in found]
