"""Leader, followers and launcher on machines with addresses, names, clocks and cables of their own.

Clocks are off by 200 ms and drift by 50 ppm, every cable takes 5 ± 1 ms and loses a frame of a thousand. What
is true is known all the same: the test bed knows by how much every clock is wrong.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds
import pytest
import yaml

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import find_java
from streamgauge.systems.nats_server import nats_executable
from streamgauge.systems.redis_server import redis_program
from streamgauge.tables.events import CLOCK_MARK
from streamgauge.testing.machines.bed import Machine, Machines
from streamgauge.testing.machines.clocks import ClockFault
from streamgauge.testing.machines.wire import Link
from tests.cli.streamgauge_command import command, in_process, one_run
from tests.proof import PROOF
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.proof,
    pytest.mark.timeout(1500 if PROOF else 480),
    pytest.mark.usefixtures("machines_are_there"),
]

PORT = "7077"
SERVER_PORT = "6390"
AERON_DIRECTORY = "/dev/shm/aeron-of-this-machine"
RUN_DEADLINE_S = 900 if PROOF else 420
COME_DEADLINE_S = 400 if PROOF else 90
"""Until five machines' worth of Java has started, on the cores of one."""
CABLE = Link(delay_ms=5, jitter_ms=1, loss=0.001)
FAULTS = {
    "left": ClockFault(200, 50),
    "right": ClockFault(-200, -50),
    **({"third": ClockFault(200, -50), "fourth": ClockFault(-200, 50)} if PROOF else {}),
}
MOST_DOUBT_MS = 20
"""Of two clocks. A way takes 4 to 6 ms, so they are known to 8 to 12 at best; a busy machine adds to it."""
RECORDED_S, MOST_LOST_S = 8.0, 6.0
"""So long it measures before a machine is switched off; what may be lost of that, on a busy machine, too."""
CUT_S = 5.0 if PROOF else 4.0
SWARMS, GATEWAYS = (("left", "right"), ("third", "fourth") if PROOF else ("left", "right"))
ONLY_PROOF = pytest.mark.skipif(not PROOF, reason="long: make proof runs it")


@dataclass
class Cluster:
    bed: Machines
    folder: Path
    environment: dict[str, str]
    followers: dict[str, subprocess.Popen[bytes]]

    @property
    def master(self) -> str:
        return f"spark://{self.bed.addresses['leader']}:{PORT}"

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.bed.on("leader", command(*arguments)),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        running = self.start(*arguments)
        said, errors = running.communicate(timeout=RUN_DEADLINE_S)
        return subprocess.CompletedProcess(arguments, running.returncode, said, errors)

    def e2e(self, out: str, messages: int, rate: int) -> tuple[str, ...]:
        each = str(len(FAULTS))
        return (
            *("e2e", "--master", self.master, "--producers", each, "--consumers", each, "--size", "100"),
            *("--messages", str(messages), "--rate", str(rate), "--warm-up", "none"),
            *("--out", str(self.folder / out)),
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("several-hosts")
    environment = {**os.environ, "STREAMGAUGE_SECRET_FILE": str(folder / "secret")}
    machines = {"leader": Machine(link=CABLE), **{name: Machine(f, CABLE) for name, f in FAULTS.items()}}
    with ExitStack() as stack:
        bed = stack.enter_context(Machines(machines))
        where = ("--leader-host", bed.addresses["leader"], "--leader-port", PORT)

        def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
            with (folder / f"{name}.out").open("w") as stream:
                process = subprocess.Popen(bed.on(name, command(*arguments)), stderr=stream, env=environment)
            stack.callback(_end, process)
            return process

        start("leader", "leader", "--leader-expect-offers", str(len(FAULTS)), *where)
        wait_for(lambda: (folder / "secret").exists())
        followers = {name: start(name, "follower", *where, "--cores", "3") for name in FAULTS}
        wait_for(lambda: "all are here" in (folder / "leader.out").read_text(), COME_DEADLINE_S)
        yield Cluster(bed, folder, environment, followers)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(30)


def wait_until_measured(out: Path, running: subprocess.Popen[str]) -> None:
    """Until every consumer has read something: then each host has told its clock, too."""
    wait_for(lambda: _all_have_read(out) or running.poll() is not None, COME_DEADLINE_S)


def _all_have_read(out: Path) -> bool:
    told = [json.loads(file.read_text() or "{}") for file in out.glob("*/live/consumer-*.json")]
    return len(told) == len(FAULTS) and all(content.get("messages") for content in told)


def document(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((one_run(out) / "results/results.json").read_text())
    return found


def true_latencies_ms(bed: Machines, run: Path, case: dict[str, Any]) -> list[float]:
    """From the events, by the clock that all machines share and none of them sees."""
    hosts = {clock["agent"]: clock["hostname"] for clock in case["clocks"]}
    sends = ds.dataset(run / "events/sends").to_table(columns=["producer", "sequence", "intended_ns"])
    receives = ds.dataset(run / "events/receives").to_table(
        columns=["consumer", "producer", "sequence", "received_ns"], filter=ds.field("state") == 0
    )
    due_ns = {
        (row["producer"], row["sequence"]): bed.clocks[hosts[f"producer-{row['producer']}"]].true_ns(
            row["intended_ns"]
        )
        for row in sends.to_pylist()
    }
    return [
        (
            bed.clocks[hosts[f"consumer-{row['consumer']}"]].true_ns(row["received_ns"])
            - due_ns[row["producer"], row["sequence"]]
        )
        / 1e6
        for row in receives.to_pylist()
    ]


def check_latencies(bed: Machines, out: Path, hops: int = 2) -> None:
    """Every percentile is the true one, within what is said of the clocks. `hops`: 2 by way of a broker."""
    [case] = document(out)["cases"]
    true_ms = true_latencies_ms(bed, one_run(out), case)
    errors_ms = {"producer": 0.0, "consumer": 0.0}
    for clock in case["clocks"]:
        kind = clock["agent"].partition("-")[0]
        errors_ms[kind] = max(errors_ms[kind], clock["error_ms"])
    bound_ms = sum(errors_ms.values())
    assert 0 < bound_ms < MOST_DOUBT_MS
    reported = case["latency_ms"]["intended_to_received"]
    for name, share in {"p50": 0.5, "p90": 0.9, "p99": 0.99}.items():
        truth_ms = float(np.quantile(true_ms, share, method="inverted_cdf"))
        assert abs(reported[name] - truth_ms) <= bound_ms + 0.002 * truth_ms, (name, bound_ms)
    assert min(true_ms) >= hops * (CABLE.delay_ms - CABLE.jitter_ms)


def check_updates(bed: Machines, out: Path, point: dict[str, Any]) -> None:
    """Latencies of a fan-out are the true ones, within what is said of its clocks, which are 400 ms apart."""
    run = one_run(out)
    starts = {
        row["agent"]: row
        for row in ds.dataset(run / "events/marks").to_table().to_pylist()
        if row["mark"] == "start"
    }

    def true_ns(agent: str, written_ns: int) -> int:
        """Events have the time of the agent's clock, and what was known of it at the start."""
        start = starts[agent]
        return bed.clocks[start["hostname"]].true_ns(written_ns - start["reference_offset_ns"])

    generated = ds.dataset(run / "events/generated").to_table().to_pylist()
    due_ns = {
        row["stamp_ns"]: true_ns("producer-0", row["intended_ns"])
        for row in generated
        if not row["is_warm_up"]
    }
    true_ms = [
        (true_ns(file.name.rpartition("-")[0], row["received_ns"]) - due_ns[row["stamp_ns"]]) / 1e6
        for file in (run / "events/updates").rglob("*.parquet")
        for row in ds.dataset(file).to_table().to_pylist()
        if row["stamp_ns"] in due_ns
    ]
    errors_ms = {host["hostname"]: host["clock_error_ms"] for host in point["hosts"]}
    of_swarms_ms = max(host["clock_error_ms"] for host in point["hosts"] if host["clients"])
    bound_ms = of_swarms_ms + errors_ms[starts["producer-0"]["hostname"]]
    assert 0 < bound_ms < MOST_DOUBT_MS
    for name, share in {"p50": 0.5, "p90": 0.9, "p99": 0.99}.items():
        truth_ms = float(np.quantile(true_ms, share))
        assert abs(point["latency_ms"][name] - truth_ms) <= bound_ms + 0.002 * truth_ms, (name, bound_ms)
    assert min(true_ms) >= 2 * (CABLE.delay_ms - CABLE.jitter_ms), "to the gateway by way of the broker"


def check_table_of_hosts(page: str, hosts: dict[str, dict[str, Any]]) -> None:
    """The report says of every host what the results do."""
    head, *rows = table_rows(page, "Scenario 2: by host")
    by_host = {row["host"]: row for row in (dict(zip(head, row, strict=True)) for row in rows)}
    assert set(by_host) == set(hosts)
    for name, host in hosts.items():
        shown = by_host[name]
        assert shown["agents"] == ", ".join(host["agents"])
        assert number(shown["clients"]) == host["clients"]
        for count in ("expected", "missing", "duplicate", "unexpected"):
            assert number(shown[count]) == (host[count] if host["clients"] else None), (name, count)


def table_rows(page: str, title: str) -> list[list[str]]:
    """Texts of a table's cells, with its headings."""
    table = page.partition(f"<span>{title}</span>")[2].partition("</table>")[0]
    return [
        [
            re.sub(r"<[^>]+>", "", cell).strip()
            for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr\b[^>]*>(.*?)</tr>", table, re.DOTALL)
    ]


def number(shown: str) -> int | None:
    digits = re.sub(r"\D", "", shown)
    return int(digits) if digits else None


def check_accounts(out: Path, case: dict[str, Any]) -> None:
    """What is counted is what lies there, message by message."""
    events, counts = one_run(out) / "events", case["accounting"]
    sends = ds.dataset(events / "sends").to_table().to_pylist()
    receives = ds.dataset(events / "receives").to_table(filter=ds.field("state") == 0).to_pylist()
    sent = {(row["producer"], row["sequence"]) for row in sends}
    read = [(row["producer"], row["sequence"]) for row in receives]
    acked = {
        (row["producer"], row["sequence"])
        for row in sends
        if row["acked_ns"] is not None and row["error"] is None
    }
    assert counts["sent"] == len(sends) == len(sent)
    assert counts["acked"] == len(acked)
    assert counts["received"] == len(sent & set(read))
    assert counts["lost_write"] + counts["unseen"] == len(acked - set(read))
    assert counts["duplicate"] == len(read) - len(set(read)) == 0
    assert counts["lost_write"] == 0, "what nobody could read any more is not lost by the log"
    for producer in {producer for producer, _ in sent}:
        own = sorted(sequence for one, sequence in sent if one == producer)
        assert own == list(range(len(own))), f"a gap in what is kept of producer {producer}"


def check_clocks(bed: Machines, out: Path) -> None:
    """What is said of each clock is true within its bound, at its first reading and at its last."""
    [case] = document(out)["cases"]
    marks = ds.dataset(one_run(out) / "events/marks").to_table().to_pylist()
    for clock in case["clocks"]:
        name, offset_ns, error_ns = clock["hostname"], clock["offset_ms"] * 1e6, clock["error_ms"] * 1e6
        read_ns = [row["at_ns"] for row in marks if row["mark"] == CLOCK_MARK and row["hostname"] == name]
        for at_ns in (min(read_ns), max(read_ns)):
            said_ns = offset_ns + clock["drift_ppm"] * (at_ns - min(read_ns)) / 1e6
            assert abs(said_ns - (bed.clocks[name].true_ns(at_ns) - at_ns)) <= error_ns, clock
        assert clock["jump_ms"] is None


def causes_of(out: Path) -> set[tuple[str, str | None]]:
    """With what each is about: a busy machine may give a case several."""
    [case] = document(out)["cases"]
    return {(cause["code"], cause["about"]) for cause in case["validity"]["causes"]}


def test_wrong_clocks_and_bad_cables_cost_no_message_and_no_truth_and_a_cut_is_named(
    cluster: Cluster,
) -> None:
    count = 200_000 if PROOF else 4_000
    running = cluster.start(*cluster.e2e("runs", count, 5000 if PROOF else 500))
    out = cluster.folder / "runs"
    wait_until_measured(out, running)
    cluster.bed.cut("left")
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(CUT_S)
    finally:
        cluster.bed.heal("left")
    _, errors = running.communicate(timeout=RUN_DEADLINE_S)
    assert running.returncode == 0, errors

    [case] = document(out)["cases"]
    counts = case["accounting"]
    assert counts["sent"] == counts["acked"] == counts["received"] == count
    assert counts["lost_write"] == counts["unseen"] == counts["corrupt"] == 0
    check_latencies(cluster.bed, out)
    assert ("host_silent", "left") in causes_of(out)
    check_clocks(cluster.bed, out)
    assert sum(cluster.bed.carried(name).lost for name in cluster.bed.addresses) > 0


def test_gateways_and_swarms_on_hosts_of_their_own_and_every_update_is_accounted_for(
    cluster: Cluster,
) -> None:
    """Scenario 2; the clocks of swarms and generator are 400 ms apart."""
    clients = 400 if PROOF else 40
    done = cluster.run(
        *("fanout", "--master", cluster.master, "--via", "gateway", "--scenario", "2"),
        *("--clients", str(clients), "--measured", "all"),
        *("--gateway-hosts", ",".join(GATEWAYS), "--swarm-hosts", ",".join(SWARMS)),
        *("--duration", "20s" if PROOF else "3s", "--warm-up", "500ms"),
        *("--out", str(cluster.folder / "fanout")),
    )
    assert done.returncode == 0, done.stderr
    [point] = document(cluster.folder / "fanout")["fanout"]["points"]
    counts = point["accounting"]
    assert point["holds"], point
    assert counts["messages"] == (2050 if PROOF else 350), "all have got to the embedded Kafka"
    assert counts["received"] == counts["expected"] > 0
    assert (counts["missing"], counts["duplicate"], counts["unexpected"]) == (0, 0, 0)
    check_updates(cluster.bed, cluster.folder / "fanout", point)
    hosts = {host["hostname"]: host for host in point["hosts"]}
    assert {name for name, host in hosts.items() if host["clients"]} == set(SWARMS)
    assert {name for name, host in hosts.items() if any("gateway" in a for a in host["agents"])} == set(
        GATEWAYS
    )
    assert sum(hosts[name]["clients"] for name in SWARMS) == clients
    assert sum(hosts[name]["received"] for name in SWARMS) == counts["received"]
    assert all(hosts[name]["missing"] == 0 for name in SWARMS)
    assert point["use"]["gateway"]["cpu_cores"] is not None
    run = one_run(cluster.folder / "fanout")
    for number, name in enumerate(GATEWAYS):
        log = (run / f"logs/case-001/gateway-{number}.log").read_text()
        assert f"listening on http://{cluster.bed.addresses[name]}:" in log
        assert "unsafe (no_users)" not in log
    check_table_of_hosts((run / "report/index.html").read_text(), hosts)
    told = (run / "environment.json").read_text()
    [login] = set(re.findall(r"user_run_token=(\S+)", told))
    assert "***" in login, "the broker's settings are kept, its password is not"


@ONLY_PROOF
def test_a_clock_that_jumps_is_named_and_costs_no_message(cluster: Cluster) -> None:
    out = cluster.folder / "jumped"
    running = cluster.start(*cluster.e2e("jumped", 30_000, 2000))
    wait_until_measured(out, running)
    cluster.bed.clocks["right"].jump(400)
    _, errors = running.communicate(timeout=RUN_DEADLINE_S)
    cluster.bed.clocks["right"].jump(-400)
    assert running.returncode == 0, errors
    [case] = document(out)["cases"]
    assert case["accounting"]["received"] == 30_000
    assert ("clock_jumped", "right") in causes_of(out)
    jumped = {clock["hostname"]: clock["jump_ms"] for clock in case["clocks"] if clock["jump_ms"] is not None}
    assert jumped == {"right": pytest.approx(400, abs=100)}


@ONLY_PROOF
def test_a_follower_of_another_version_is_refused_by_name(cluster: Cluster, tmp_path: Path) -> None:
    info = tmp_path / "streamgauge-0.1.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: streamgauge\nVersion: 0.1.9\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    where = ("--leader-host", "leader", "--leader-port", PORT, "--name", "old")
    old = subprocess.Popen(
        cluster.bed.on("left", command("follower", *where)),
        env={**cluster.environment, "PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    try:
        said = "old (10.231.7.2) has streamgauge 0.1.9 and does not count"
        wait_for(lambda: said in (cluster.folder / "leader.out").read_text())
    finally:
        _end(old)


@ONLY_PROOF
def test_a_follower_without_room_on_its_disk_says_so(cluster: Cluster, tmp_path: Path) -> None:
    cluster.bed.small_disk("right", tmp_path, 8 << 20)
    done = subprocess.run(
        cluster.bed.on("right", command("follower", "--leader-host", "leader", "--leader-port", PORT)),
        env={**cluster.environment, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "are free on its disk, a follower needs 256" in done.stderr.splitlines()[-1]


@ONLY_PROOF
def test_a_disk_that_becomes_full_while_it_measures_is_named_and_what_others_recorded_is_kept(
    cluster: Cluster,
) -> None:
    """Every agent writes to a folder that has the same name on all machines; on one it is a disk of 64 KiB,
    which has room to try whether one may write there, and not for what 10,000 messages leave."""
    out = cluster.folder / "shared"
    out.mkdir()
    cluster.bed.small_disk("right", out, 64 << 10)
    done = cluster.run(*cluster.e2e("shared", 10_000 * len(FAULTS), 2000), "--out", out.as_uri())
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    [told] = set(re.findall(r"follower right: \S+: the disk is full; free some space", done.stderr))
    for stage in ("analyze", "report"):
        again = cluster.run(stage, one_run(out).as_uri())
        assert again.returncode == 0, again.stderr
    found = document(out)
    assert (found["status"], found["reason"]) == ("partial", f"case 001: {told} or choose another --out")
    [case] = found["cases"]
    assert case["status"] == "failed"
    assert case["integrity"]["verdict"] != "ok"
    assert "incomplete" in {cause["code"] for cause in case["validity"]["causes"]}
    check_accounts(out, case)
    kept = {
        file.name.rpartition("-")[0]
        for table in ("sends", "receives")
        for file in (one_run(out) / "events" / table).rglob("*.parquet")
    }
    hosts = {clock["agent"]: clock["hostname"] for clock in case["clocks"]}
    assert {hosts[agent] for agent in kept} == set(FAULTS) - {"right"}


@ONLY_PROOF
def test_a_launcher_that_no_follower_reaches_says_so(cluster: Cluster) -> None:
    """Its folder is served where nobody else is."""
    done = subprocess.run(
        cluster.bed.on("leader", command(*cluster.e2e("unreached", 1000, 1000))),
        env={**cluster.environment, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=RUN_DEADLINE_S,
        check=False,
    )
    assert done.returncode != 0
    assert "the launcher at 127.0.0.1:" in done.stderr


@ONLY_PROOF
def test_a_sweep_runs_on_followers(cluster: Cluster) -> None:
    done = cluster.run(
        *(
            "sweep",
            "--master",
            cluster.master,
            "--partitions",
            "1,2",
            "--stream-size",
            "6400",
            "--size",
            "64",
        ),
        *("--acks", "1", "--rate", "3000", "--warm-up", "0", "--out", str(cluster.folder / "sweep")),
    )
    assert done.returncode == 0, done.stderr
    cases = document(cluster.folder / "sweep")["cases"]
    assert [case["accounting"]["received"] for case in cases] == [100, 200]


@ONLY_PROOF
def test_a_limit_is_searched_on_followers(cluster: Cluster) -> None:
    done = cluster.run(
        *("limit", "--master", cluster.master, "--slo", "p99<2s", "--slo", "lost=0", "--size", "100"),
        *("--from", "500/s", "--to", "1000/s", "--duration", "3s", "--out", str(cluster.folder / "limit")),
    )
    assert done.returncode == 0, done.stderr
    found = document(cluster.folder / "limit")
    limit, cases = found["limit"], {case["case"]: case for case in found["cases"]}
    assert limit["ending"] in ("found", "all held")
    held = [step for step in limit["steps"] if step["holds"]]
    assert limit["held_per_s"] == max(step["rate_per_s"] for step in held) >= 500
    if limit["ending"] == "all held":
        assert limit["held_per_s"] == 1000
    else:
        assert limit["broken_per_s"] > limit["held_per_s"]
    for step in held:
        for trial in (trial for trial in step["trials"] if trial["holds"]):
            counts = cases[trial["case"]]["accounting"]
            assert counts["sent"] == counts["received"] > 0
            assert counts["lost_write"] == 0
            assert cases[trial["case"]]["latency_ms"]["intended_to_received"]["p99"] < 2000


@ONLY_PROOF
@pytest.mark.parametrize(("transport", "setting"), [("redis", "url"), ("nats", "servers")])
def test_a_transport_whose_server_is_on_another_machine(
    cluster: Cluster, tmp_path: Path, transport: str, setting: str
) -> None:
    workload = transport_workload(transport)
    address = f"{cluster.bed.addresses['leader']}:{SERVER_PORT}"
    workload["targets"][0]["settings"] |= {setting: f"{transport}://{address}"}
    with processes(cluster, {"leader": server_command(transport, tmp_path)}):
        all_received(cluster, workload, tmp_path)


@ONLY_PROOF
@pytest.mark.parametrize("engine", ["python", "jvm"])
def test_a_kafka_that_the_launcher_starts_is_used_from_other_machines(
    cluster: Cluster, tmp_path: Path, engine: str
) -> None:
    workload = transport_workload("kafka", "--engine", engine, has_server=False)
    workload["load"] |= {"producer_hosts": ["left"], "consumer_hosts": ["right"]}
    [case] = all_received(cluster, workload, tmp_path)
    assert {clock["agent"]: clock["hostname"] for clock in case["clocks"]} == {
        "producer-0": "left",
        "consumer-0": "right",
    }
    check_latencies(cluster.bed, tmp_path / "runs")


@ONLY_PROOF
@pytest.mark.parametrize("engine", ["python", "jvm"])
def test_aeron_over_udp_from_one_machine_to_another(cluster: Cluster, tmp_path: Path, engine: str) -> None:
    """A media driver on each, in its own shared memory, and one where the launcher asks for it."""
    workload = transport_workload("aeron-udp", "--engine", engine)
    endpoint = f"{cluster.bed.addresses['right']}:{SERVER_PORT}"
    workload["targets"][0]["settings"] = {
        "channel": f"aeron:udp?endpoint={endpoint}",
        "directory": AERON_DIRECTORY,
    }
    workload["load"] |= {"producer_hosts": ["left"], "consumer_hosts": ["right"]}
    workload["cases"][0]["warm_up_messages"] = 0
    drivers = dict.fromkeys(("leader", "left", "right"), media_driver_command())
    with processes(cluster, drivers):
        for name in drivers:
            is_there = cluster.bed.on(name, ["test", "-e", f"{AERON_DIRECTORY}/cnc.dat"])
            wait_for(lambda is_there=is_there: subprocess.run(is_there, check=False).returncode == 0)
        [case] = all_received(cluster, workload, tmp_path)
    assert {clock["agent"]: clock["hostname"] for clock in case["clocks"]} == {
        "producer-0": "left",
        "consumer-0": "right",
    }
    check_latencies(cluster.bed, tmp_path / "runs", hops=1)


def transport_workload(transport: str, *more: str, has_server: bool = True) -> dict[str, Any]:
    """`has_server`: one is there already; else the run starts its own."""
    made = in_process(
        *("transports", "--transport", transport, "--rps", "500", "--iterations", "1000", "--warm-up", "100"),
        *("--force", "--no-harness", "--print-workload", *more),
    )
    workload: dict[str, Any] = yaml.safe_load(made.stdout)
    [target] = workload["targets"]
    if has_server:
        del target["system"]
    target.setdefault("settings", {})
    return workload


@contextmanager
def processes(cluster: Cluster, commands: dict[str, list[str]]) -> Iterator[None]:
    """By machine; they end with the block."""
    with ExitStack() as stack:
        for name, words in commands.items():
            started = stack.enter_context(subprocess.Popen(cluster.bed.on(name, words)))
            stack.callback(started.terminate)
        yield


def all_received(cluster: Cluster, workload: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    file, out = folder / "workload.yaml", folder / "runs"
    file.write_text(yaml.safe_dump(workload))
    done = cluster.run("run", str(file), "--master", cluster.master, "--out", str(out))
    assert done.returncode == 0, done.stderr
    cases: list[dict[str, Any]] = document(out)["cases"]
    for case in cases:
        assert case["accounting"]["received"] == case["accounting"]["sent"] == 1000
    return cases


def media_driver_command() -> list[str]:
    properties = {
        "aeron.dir": AERON_DIRECTORY,
        "aeron.dir.delete.on.start": "true",
        "aeron.threading.mode": "SHARED",
        "aeron.term.buffer.length": "1m",
    }
    return [
        *(str(find_java().executable), "-Xmx128m", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"),
        *(f"-D{name}={value}" for name, value in properties.items()),
        *("-cp", classpath(fetch("aeron")), "io.aeron.driver.MediaDriver"),
    ]


def server_command(transport: str, folder: Path) -> list[str]:
    """On every address of its machine; skipped where there is none."""
    try:
        if transport == "redis":
            own = ("--bind", "0.0.0.0", "--protected-mode", "no", "--dir", str(folder))
            program = redis_program()
            libraries = (program.environment() or {}).get("LD_LIBRARY_PATH", "")
            found = ("env", f"LD_LIBRARY_PATH={libraries}", str(program.executable))
            return [*found, "--port", SERVER_PORT, *own]
        return [str(nats_executable()), "-a", "0.0.0.0", "-p", SERVER_PORT, "-js", "-sd", str(folder)]
    except (NotInstalled, SystemFailed) as error:
        pytest.skip(f"not to be had here: {error}")


@ONLY_PROOF
def test_a_machine_that_is_switched_off_is_named_and_what_was_recorded_is_kept(cluster: Cluster) -> None:
    """The last test: it ends a follower. Nobody tells anybody: its cable is dead, too."""
    out = cluster.folder / "off"
    running = cluster.start(*cluster.e2e("off", 200_000, 5000))
    wait_until_measured(out, running)
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(RECORDED_S)
    off_ns = time.monotonic_ns()
    cluster.bed.power_off("right")
    _, errors = running.communicate(timeout=RUN_DEADLINE_S)
    assert running.returncode == 1
    [lost] = set(re.findall(r"follower right was lost, with .+", errors))
    for stage in ("analyze", "report"):
        done = cluster.run(stage, str(one_run(out)))
        assert done.returncode == 0, done.stderr
    found = document(out)
    assert (found["status"], found["reason"]) == ("partial", f"case 001: {lost}")
    [case] = found["cases"]
    assert case["integrity"]["verdict"] != "ok"
    assert "incomplete" in {cause["code"] for cause in case["validity"]["causes"]}
    assert case["accounting"]["sent"] > case["accounting"]["received"] > 0
    check_accounts(out, case)
    agents = re.findall(r"(producer|consumer)-(\d+)", lost)
    assert agents
    for kind, number_of_it in agents:
        table, column = {"producer": ("sends", "sent_ns"), "consumer": ("receives", "received_ns")}[kind]
        is_its = ds.field(kind) == int(number_of_it)
        kept = ds.dataset(one_run(out) / "events" / table).to_table(columns=[column], filter=is_its)
        last_ns = cluster.bed.clocks["right"].true_ns(max(kept[column].to_pylist()))
        assert 0 <= off_ns - last_ns <= MOST_LOST_S * 1e9, "a journal is written every second"
