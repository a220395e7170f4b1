"""Whenever and however a command is ended: no process, port, topic or temporary folder of it is left, and
`runs` and `results` say the same of what it ran.

`make test` ends a few; `make proof` ends every command 30 times, at moments that are drawn.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.killing import Place, after, drawn, end_at, is_taken
from tests.cli.streamgauge_command import command, in_process, one_run, streamgauge
from tests.proof import PROOF
from tests.waiting import wait_for

KILLS = int(os.environ.get("STREAMGAUGE_KILLS", "30"))
SIMULATED = "targets: [{name: sim, driver: simulated}]\nload: {messages: 2000, rate: 1k/s}\n"
TARGET = "name: %s\ndriver: simulated\nsettings: {seed: %d, send_ns: 1000, read_ns: 1000, connect_ms: 2}\n"
GATEWAY = """adapter_set: S
connections:
  Q: {bootstrap.servers: "%s", map.t.to: i, field.v: "#{VALUE}"}
"""
Arguments = list[str | Path]


def e2e(place: Place) -> Arguments:
    load = ("--test-produce-messages", "20000", "--test-produce-rate", "2000")
    return ["e2e", "--bootstrap", place.kafka, *load, "--out", place.out]


def embedded(place: Place) -> Arguments:
    return ["e2e", "--test-produce-messages", "20000", "--test-produce-rate", "2000", "--out", place.out]


def simulated(place: Place) -> Arguments:
    file = place.folder / "w.yaml"
    file.write_text(SIMULATED)
    return ["run", file, "--out", place.out]


def sweep(place: Place) -> Arguments:
    knobs = ("--topics", "1,2", "--partitions", "1,4", "--message-size", "64", "--stream-size", "1000")
    ahead = ("--warm-up-messages", "1")
    return ["sweep", "--bootstrap", place.kafka, *knobs, *ahead, "--out", place.out]


def limit(place: Place) -> Arguments:
    return [
        *("limit", "--bootstrap", place.kafka, "--slo", "p99<50ms", "--step-time", "1s"),
        *("--time-limit", "20s", "--out", place.out),
    ]


def compare(place: Place) -> Arguments:
    for number, name in enumerate("ab"):
        (place.folder / f"{name}.yaml").write_text(TARGET % (name, number))
    sides = ("--a", place.folder / "a.yaml", "--b", place.folder / "b.yaml")
    return ["compare", *sides, "--length", "10", "--messages", "10", "--repeat", "5000", "--out", place.out]


def transports(place: Place) -> Arguments:
    rates = ("--rps", "500,1k", "--seconds", "5s", "--warm-up", "100", "--force", "--no-harness")
    return ["transports", "--transport", "aeron-ipc,zeromq", *rates, "--out", place.out]


def fanout(place: Place) -> Arguments:
    size = ("--clients", "10,20", "--duration", "5s", "--warm-up", "2s", "--producers", "2")
    return ["fanout", "--bootstrap", place.kafka, *size, "--out", place.out]


def gateway(place: Place) -> Arguments:
    file = place.folder / "gateway.yaml"
    file.write_text(GATEWAY % place.kafka)
    return ["gateway", "--config", file, "--port", "0", "--no-demo", "--processes", "2"]


def generate(place: Place) -> Arguments:
    return ["generate", place.kafka, "ends", "2", "10", "64", "base"]


def cluster_up(place: Place) -> Arguments:
    return ["cluster", "up"]


def leader(place: Place) -> Arguments:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    return ["leader", "--leader-host", "127.0.0.1", "--leader-port", str(port)]


def analyze(place: Place) -> Arguments:
    return ["analyze", one_run(place.out)]


def report(place: Place) -> Arguments:
    return ["report", one_run(place.out)]


@dataclass(frozen=True)
class Trial:
    arguments: Callable[[Place], Arguments]
    span_s: float
    """Moments are drawn from so long: about what the command takes, its end included."""
    with_run: bool = False


TRIALS = {
    "run": Trial(simulated, 20),
    "e2e": Trial(e2e, 35),
    "e2e-embedded": Trial(embedded, 40),
    "sweep": Trial(sweep, 35),
    "limit": Trial(limit, 40),
    "compare": Trial(compare, 25),
    "transports": Trial(transports, 40),
    "fanout": Trial(fanout, 40),
    "gateway": Trial(gateway, 5),
    "generate": Trial(generate, 5),
    "cluster-up": Trial(cluster_up, 15),
    "leader": Trial(leader, 10),
    "analyze": Trial(analyze, 15, with_run=True),
    "report": Trial(report, 5, with_run=True),
}


@pytest.fixture(scope="module")
def broker(kafka: str) -> str:
    """With a topic that is there, and stays."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic("ends", 1, 1)])["ends"].result(30)
    return kafka


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was measured and analysed, to be copied."""
    place = Place(tmp_path_factory.mktemp("measured"), "")
    done = streamgauge(*simulated(place), env=place.environment)
    assert done.returncode in (0, 1), done.stderr
    return place.out


@contextmanager
def cluster_put_away(place: Place) -> Iterator[None]:
    """A cluster that came up whole before `cluster up` was ended is what it was to leave."""
    yield
    subprocess.run(command("cluster", "down"), env=place.environment, timeout=90, check=False)


STRIKES = """
import importlib, os, signal
from streamgauge.cli.main import main
module, _, name = os.environ["STRUCK"].rpartition(".")

def strike(*arguments):
    os.killpg(0, int(os.environ["SIGNAL"]))  # as a terminal does

setattr(importlib.import_module(module), name, strike)
main()
"""
"""Ended in the middle of what it names, which is after the last case."""

FEW = [
    ("e2e", signal.SIGKILL, "topics"),
    ("run", signal.SIGTERM, "java"),
    ("gateway", signal.SIGKILL, "ports"),
    ("generate", signal.SIGINT, 2.5),
    ("leader", signal.SIGHUP, "java"),
    ("cluster-up", signal.SIGKILL, "java"),
]


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.parametrize(("name", "sent", "when"), FEW)
def test_nothing_is_left_of_a_command_that_is_ended(
    name: str, sent: signal.Signals, when: str | float, broker: str, tmp_path: Path
) -> None:
    place = Place(tmp_path, broker)
    before = place.topics()

    def moment() -> bool:
        if when == "topics":
            return bool(place.topics() - before)
        if when == "java":
            return any(process.name() == "java" for process in place.processes())
        return any(process.net_connections("tcp") for process in place.processes())

    due = after(when) if isinstance(when, float) else moment
    ended = end_at(place, TRIALS[name].arguments(place), sent, due, to_all=False)
    assert ended.left == [], ended.how
    if sent is signal.SIGKILL:
        assert ended.exit_code == -sent
    elif name != "generate":  # to end it with Ctrl-C is how it is meant to be used
        assert ended.exit_code == 128 + sent


@pytest.mark.spark
@pytest.mark.parametrize(
    ("struck", "sent", "command_to_go_on"),
    [
        ("streamgauge.analysis.pipeline.checked_events", signal.SIGINT, "analyze"),
        ("streamgauge.analysis.pipeline.checked_events", signal.SIGTERM, "analyze"),
        ("streamgauge.cli.reporting.write_parts", signal.SIGINT, "report"),
    ],
)
def test_a_run_that_is_ended_after_its_last_case_says_how_to_go_on(
    struck: str, sent: signal.Signals, command_to_go_on: str, tmp_path: Path
) -> None:
    place = Place(tmp_path, "")
    environment = {**place.environment, "STRUCK": struck, "SIGNAL": str(int(sent))}
    done = subprocess.run(
        [sys.executable, "-c", STRIKES, *map(str, simulated(place))],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 128 + sent, done.stderr
    assert [*place.processes(), *place.temporary.iterdir()] == []
    run = one_run(place.out)
    first, *stages, last = done.stderr.strip().splitlines()
    assert first.startswith("run ")
    assert all(re.fullmatch(r"[a-zA-Z ]+: \d+\.\d s", stage) for stage in stages), "nothing else is said"
    assert last.startswith("interrupted; ")
    assert last.endswith(f": streamgauge {command_to_go_on} {run}")
    if command_to_go_on == "report":
        assert in_process("report", run).returncode == 0
        assert (run / "report" / "index.html").exists()
        return
    listed = in_process("runs", "--out", place.out, env={"COLUMNS": "400"}).stdout
    assert "not analysed" in listed
    stages_s = json.loads((run / "status.json").read_text())["stages_s"]
    assert {"measuring", "analysing"} <= stages_s.keys(), "the stage in which it was ended is one of them"
    assert f"go on with: streamgauge analyze {run}" in listed
    shown = in_process("results", run)
    assert shown.returncode == 2
    assert f"{run}: not analysed: " in shown.stderr
    again = in_process("analyze", run)
    assert again.returncode == 0
    assert re.search(r"^analysing: \d+\.\d s$", again.stderr, re.MULTILINE)
    assert "not analysed" not in in_process("runs", "--out", place.out).stdout
    assert in_process("results", run).returncode == 0


@pytest.mark.skipif(not PROOF, reason="`make proof` ends every command 30 times")
@pytest.mark.proof
@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.parametrize("name", TRIALS)
def test_nothing_is_left_whenever_a_command_is_ended(
    name: str, broker: str, measured: Path, tmp_path: Path
) -> None:
    trial, wrong = TRIALS[name], []
    for number in range(KILLS):
        sent, moment_s, to_all = drawn(name, number, trial.span_s)
        place = Place(tmp_path / str(number), broker)
        if trial.with_run:
            shutil.copytree(measured, place.out, dirs_exist_ok=True)
        arguments = trial.arguments(place)
        with cluster_put_away(place) if name == "cluster-up" else _nothing():
            ended = end_at(place, arguments, sent, after(moment_s), to_all=to_all)
            left = [what for what in ended.left if not _is_the_cluster(what, place)]
        wrong += [(ended.how, what) for what in left]
    assert wrong == []


@pytest.mark.skipif(not PROOF, reason="`make proof` ends every command 30 times")
@pytest.mark.proof
@pytest.mark.broker
def test_a_cluster_down_that_is_ended_leaves_the_cluster_whole_or_nothing(
    broker: str, tmp_path: Path
) -> None:
    wrong = []
    for number in range(KILLS):
        sent, moment_s, _ = drawn("cluster-down", number, 5)
        place = Place(tmp_path / str(number), broker)
        up = streamgauge("cluster", "up", env=place.environment)
        assert up.returncode == 0, up.stderr
        with cluster_put_away(place):
            ended = end_at(place, ["cluster", "down"], sent, after(moment_s), to_all=False)
            left = [what for what in ended.left if not _is_the_cluster(what, place)]
        wrong += [(ended.how, what) for what in left]
    assert wrong == []


@pytest.mark.skipif(not PROOF, reason="`make proof` ends every command 30 times")
@pytest.mark.proof
@pytest.mark.spark
@pytest.mark.broker
def test_nothing_is_left_of_a_follower_that_is_ended(broker: str, tmp_path: Path) -> None:
    lead = Place(tmp_path / "leader", broker)
    arguments, wrong = leader(lead), []
    with (
        (lead.folder / "said.txt").open("w") as said,
        subprocess.Popen(command(*arguments), env=lead.environment, stderr=said) as leading,
    ):
        try:
            wait_for(lambda: is_taken(int(str(arguments[-1]))))
            for number in range(KILLS):
                sent, moment_s, to_all = drawn("follower", number, 12)
                place = Place(tmp_path / str(number), broker)
                ended = end_at(place, ["follower", *arguments[1:]], sent, after(moment_s), to_all=to_all)
                wrong += [(ended.how, what) for what in ended.left]
        finally:
            leading.terminate()
    assert wrong == []


def _is_the_cluster(what: str, place: Place) -> bool:
    """A broker of a cluster that is up whole, as `cluster status` says."""
    is_of_cluster = (what.startswith("process") and "kafka" in what) or what.startswith("port")
    return is_of_cluster and streamgauge("cluster", "status", env=place.environment).returncode == 0


@contextmanager
def _nothing() -> Iterator[None]:
    yield
