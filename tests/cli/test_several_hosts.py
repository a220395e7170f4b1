"""Leader, followers and launcher on hosts that share no address: what a run starts, its agents reach."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from tests.cli.network_namespaces import Hosts, can_make_hosts, hosts
from tests.cli.streamgauge_command import command, one_run
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.timeout(480),
    pytest.mark.skipif(not can_make_hosts(), reason="network namespaces are not allowed here (not root?)"),
]

PORT = "7077"
RUN_DEADLINE_S = 360


@dataclass(frozen=True)
class Cluster:
    hosts: Hosts
    folder: Path
    environment: dict[str, str]

    @property
    def master(self) -> str:
        return f"spark://{self.hosts.addresses['leader']}:{PORT}"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.hosts.on("leader", command(*arguments)),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=RUN_DEADLINE_S,
            check=False,
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("several-hosts")
    environment = {**os.environ, "STREAMGAUGE_SECRET_FILE": str(folder / "secret")}
    with ExitStack() as stack:
        made = stack.enter_context(hosts("leader", "left", "right"))
        where = ("--leader-host", made.addresses["leader"], "--leader-port", PORT)

        def start(name: str, *arguments: str) -> Path:
            said = folder / f"{name}.out"
            with said.open("w") as stream:
                process = subprocess.Popen(made.on(name, command(*arguments)), stderr=stream, env=environment)
            stack.callback(_end, process)
            return said

        said = start("leader", "leader", "--leader-expect-offers", "2", *where)
        wait_for(lambda: (folder / "secret").exists())
        for name in ("left", "right"):
            own = ("--host", made.addresses[name], "--name", name, "--cores", "2")
            start(name, "follower", *where, *own)
        wait_for(lambda: "all are here" in said.read_text())
        yield Cluster(made, folder, environment)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(30)


def test_clients_on_two_followers_of_a_gateway_and_a_kafka_that_the_run_starts(cluster: Cluster) -> None:
    done = cluster.run(
        *("fanout", "--master", cluster.master, "--via", "gateway", "--scenario", "2"),
        *("--clients", "40", "--clients-per-process", "20", "--measured", "all"),
        *("--duration", "3s", "--warm-up", "500ms", "--out", str(cluster.folder / "runs")),
    )
    assert done.returncode == 0, done.stderr
    run = one_run(cluster.folder / "runs")
    [point] = json.loads((run / "results/results.json").read_text())["fanout"]["points"]
    counts = point["accounting"]
    assert point["holds"], point
    assert counts["messages"] == 350, "the generator, on a follower, has got them to the embedded Kafka"
    assert (counts["missing"], counts["unexpected"]) == (0, 0)
    marks = ds.dataset(run / "events/marks").to_table(columns=["hostname"])
    assert set(marks["hostname"].to_pylist()) == {"left", "right"}
    log = (run / "logs/case-001/gateway.log").read_text()
    assert f"listening on http://{cluster.hosts.addresses['leader']}:" in log
    assert "unsafe (no_users)" not in log
    told = (run / "environment.json").read_text()
    [login] = set(re.findall(r"user_run_token=(\S+)", told))
    assert "***" in login, "the broker's settings are kept, its password is not"
