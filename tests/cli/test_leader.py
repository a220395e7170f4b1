"""A leader and two followers as a user starts them, on addresses of their own and with shifted clocks."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from tests.cli.streamgauge_command import command, in_process, one_run, streamgauge
from tests.cli.time_namespace import can_shift, shifted_by

pytestmark = [pytest.mark.broker, pytest.mark.spark]

PATIENCE_S = 90.0
LOST_DEADLINE_S = 15.0
MESSAGES = 2000
SHIFTS_MS = {"left": 50, "right": -50}
ADDRESSES = {"left": "127.0.0.2", "right": "127.0.0.3"}


@dataclass
class Cluster:
    folder: Path
    master: str
    environment: dict[str, str]
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def said_by(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text()

    def has_counted(self, followers: int) -> bool:
        return f"{followers} of 2 followers" in self.said_by("leader")

    def start(self, name: str, *arguments: str, shift_ms: int | None = None) -> None:
        with (self.folder / f"{name}.out").open("w") as said:
            self.processes[name] = subprocess.Popen(
                command(*arguments),
                stderr=said,
                text=True,
                env={**os.environ, **self.environment},
                preexec_fn=shifted_by(shift_ms) if shift_ms else None,
            )

    def end(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            process.wait(30)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    environment = {"STREAMGAUGE_SECRET_FILE": str(folder / "secret")}
    made = Cluster(folder, f"spark://127.0.0.1:{port}", environment)
    where = ("--leader-host", "127.0.0.1", "--leader-port", port)
    with ExitStack() as stack:
        stack.callback(made.end)
        made.start("leader", "leader", "--leader-expect-offers", "2", *where)
        wait_for(lambda: listens(int(port)), "the leader listens")
        for joined, (name, address) in enumerate(ADDRESSES.items()):
            # The leader looks now and then: who come together are counted together.
            wait_for(partial(made.has_counted, joined), f"{joined} are counted")
            shift_ms = SHIFTS_MS[name] if can_shift() else None
            more = ("--host", address, "--name", name, "--cores", "2")
            made.start(name, "follower", *where, *more, shift_ms=shift_ms)
        wait_for(lambda: "all are here" in made.said_by("leader"), "all followers are there")
        yield made


@pytest.fixture(scope="module")
def document(cluster: Cluster, kafka: str) -> dict[str, Any]:
    """Of a run with a producer and a consumer on each follower."""
    done = streamgauge(
        *("e2e", "--bootstrap", kafka, "--master", cluster.master),
        *("--test-producer-processes", "2", "--test-consumer-processes", "2"),
        *("--test-produce-messages", str(MESSAGES), "--warm-up-messages", "200"),
        *("--out", cluster.folder / "runs"),
        env=cluster.environment,
    )
    assert done.returncode == 0, done.stderr
    shown = in_process("results", one_run(cluster.folder / "runs"), "--json")
    return json.loads(shown.stdout)


def test_the_leader_counts_its_followers(cluster: Cluster) -> None:
    said = cluster.said_by("leader")
    assert "0 of 2 followers" in said
    assert "1 of 2 followers" in said
    assert "2 of 2 followers" in said
    assert cluster.master in said


def test_the_secret_is_ours_alone_and_on_no_command_line(cluster: Cluster) -> None:
    file = cluster.folder / "secret"
    secret = file.read_text().strip()
    assert file.stat().st_mode & 0o077 == 0
    lines = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
    assert not any(secret in line for line in lines)


def test_their_java_is_told_to_stay_out_of_the_way_of_what_is_measured(cluster: Cluster) -> None:
    for process in cluster.processes.values():
        [java] = [
            child for child in psutil.Process(process.pid).children(recursive=True) if child.name() == "java"
        ]
        assert {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"} <= set(java.cmdline())


def test_agents_on_both_followers_and_nothing_lost(document: dict[str, Any]) -> None:
    [case] = document["cases"]
    assert case["status"] == "ok"
    assert case["accounting"]["sent"] == case["accounting"]["received"] == MESSAGES
    assert case["accounting"]["lost_write"] == case["accounting"]["unseen"] == 0
    hosts = {clock["agent"]: clock["hostname"] for clock in case["clocks"]}
    assert {hosts["producer-0"], hosts["producer-1"]} == {"left", "right"}
    assert {hosts["consumer-0"], hosts["consumer-1"]} == {"left", "right"}


@pytest.mark.skipif(not can_shift(), reason="time namespaces are not allowed here")
def test_shifted_clocks_are_found_within_their_bound(document: dict[str, Any]) -> None:
    for clock in document["cases"][0]["clocks"]:
        truth_ms = -SHIFTS_MS[clock["hostname"]]
        assert abs(clock["offset_ms"] - truth_ms) <= clock["error_ms"] < 50
        assert clock["readings"] >= 2


@pytest.mark.skipif(not can_shift(), reason="time namespaces are not allowed here")
def test_the_median_is_the_one_of_unshifted_clocks_within_the_bound(
    cluster: Cluster, document: dict[str, Any]
) -> None:
    [case] = document["cases"]
    bound_ms = 2 * max(clock["error_ms"] for clock in case["clocks"])
    truth_ms = true_median_ms(one_run(cluster.folder / "runs"), case)
    assert abs(case["latency_ms"]["intended_to_received"]["p50"] - truth_ms) <= bound_ms + 0.002 * truth_ms


def test_a_killed_follower_is_named_and_the_run_is_partial(
    cluster: Cluster, kafka: str, document: Any
) -> None:
    out = cluster.folder / "killed"
    arguments = command(
        *(
            "e2e",
            "--bootstrap",
            kafka,
            "--master",
            cluster.master,
            "--out",
            out,
        ),
        *("--test-producer-processes", "2", "--test-consumer-processes", "2"),
        *("--test-produce-messages", "300000", "--warm-up-messages", "0"),
    )
    env = {**os.environ, **cluster.environment}
    running = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=env)
    wait_for(lambda: any(out.glob("*/live/consumer-1.json")), "agents measure")
    cluster.processes["right"].kill()
    wait_for(lambda: status_of(one_run(out)) == "partial", "the run is partial", LOST_DEADLINE_S)
    _, said = running.communicate(timeout=PATIENCE_S)

    assert running.returncode == 1
    assert "follower right was lost" in said
    wait_for(lambda: "lost right" in cluster.said_by("leader"), "the leader says so")


def test_a_wrong_secret_is_said(cluster: Cluster) -> None:
    host, port = cluster.master.removeprefix("spark://").split(":")
    where = ("--leader-host", host, "--leader-port", port)
    done = streamgauge("follower", *where, env={"STREAMGAUGE_SECRET": "not-the-secret-of-anybody"})
    assert done.returncode == 2
    assert "secret" in done.stderr


def test_nothing_is_left_when_all_are_ended(cluster: Cluster) -> None:
    """The last test: it ends the cluster."""
    before = [
        process
        for name in ("left", "leader")
        for process in psutil.Process(cluster.processes[name].pid).children(recursive=True)
    ]
    assert before
    cluster.end()
    _, alive = psutil.wait_procs(before, timeout=60)
    assert alive == []


def test_in_two_steps_the_follower_first(kafka: str, tmp_path: Path) -> None:
    """The leader listens everywhere, runs what its flags ask for, and ends; so does its follower."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    made = Cluster(tmp_path, "", {"STREAMGAUGE_SECRET": "a-secret-of-this-test-alone"})
    where = ("--leader-port", port)
    with ExitStack() as stack:
        stack.callback(made.end)
        of_follower = ("--leader-host", "127.0.0.1", "--host", "127.0.0.2", "--name", "left", "--cores", "2")
        made.start("left", "follower", *where, *of_follower)
        wait_for(lambda: "waiting for the leader" in made.said_by("left"), "the follower waits")
        host, kafka_port = kafka.split(":")
        led = streamgauge(
            *("leader", "--leader-host", "*", *where, "--out", tmp_path / "runs"),
            *("--kafka-bootstrap-host", host, "--kafka-bootstrap-port", kafka_port),
            *("--test-produce-messages", "500", "--warm-up-messages", "none"),
            env=made.environment,
        )
        assert led.returncode == 0, led.stderr
        assert "on all other addresses" in led.stderr
        assert "all are here, 2 cores" in led.stderr
        assert "sent 500" in led.stdout
        assert made.processes["left"].wait(60) == 0
        assert "so does this follower" in made.said_by("left")
    newest = in_process("results", "--json", "--out", tmp_path / "runs")
    assert json.loads(newest.stdout)["cases"][0]["accounting"]["received"] == 500


def true_median_ms(run: Path, case: dict[str, Any]) -> float:
    """From the events, with the shifts that only the test knows."""
    shifts = {clock["agent"]: SHIFTS_MS[clock["hostname"]] * 1_000_000 for clock in case["clocks"]}
    sends = ds.dataset(run / "events" / "sends").to_table()
    receives = ds.dataset(run / "events" / "receives").to_table()
    sent = {
        (row["producer"], row["sequence"]): row["intended_ns"] - shifts[f"producer-{row['producer']}"]
        for row in sends.select(["producer", "sequence", "intended_ns"]).to_pylist()
        if row["sequence"] >= 100
    }
    took = [
        row["received_ns"] - shifts[f"consumer-{row['consumer']}"] - sent[row["producer"], row["sequence"]]
        for row in receives.select(["consumer", "producer", "sequence", "received_ns"]).to_pylist()
        if (row["producer"], row["sequence"]) in sent
    ]
    return float(pc.quantile(took, 0.5)[0].as_py()) / 1e6


def status_of(run: Path) -> str:
    return str(json.loads((run / "status.json").read_text())["status"])


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_for(holds: Callable[[], bool], what: str, deadline_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + deadline_s
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {deadline_s:g} s"
        time.sleep(0.1)
