"""Faults of brokers: chosen when they happen, on a cluster of our own, and nothing acknowledged is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import confluent_kafka
import pytest

from streamgauge.core.clock import now_ns
from streamgauge.core.errors import BadInput, CaseFailed
from streamgauge.drivers.contract import PartitionState
from streamgauge.drivers.registry import open_driver
from streamgauge.faults.brokers import (
    BrokerKill,
    BrokerKillSpec,
    BrokerPause,
    BrokerPauseSpec,
    BrokerRestart,
    BrokerRestartSpec,
    ControllerLoss,
    ControllerLossSpec,
    UncleanElection,
    UncleanElectionSpec,
    controller_of,
)
from streamgauge.faults.contract import Ending, Scene
from streamgauge.plan.cases import load_case
from streamgauge.spec.load import Load
from streamgauge.spec.target import Target
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.members import Members
from tests.light_java import LIGHT_JAVA
from tests.waiting import wait_for

_MESSAGES = 600


class Cluster:
    """Who leads, and what is done to whom, without a process."""

    def __init__(self) -> None:
        self.leader = "broker-2"
        self.in_sync: tuple[str, ...] = ("broker-2", "broker-3")
        self.names = ["broker-1", "broker-2", "broker-3"]
        self.data_folders: dict[str, Path] = {}
        self.done: list[str] = []

    def partition_state(self, topic: str, partition: int) -> PartitionState:
        if "pause broker-3" in self.done:
            self.in_sync = ("broker-2",)
        return PartitionState(self.leader, ("broker-2", "broker-3"), self.in_sync)

    def __getattr__(self, name: str) -> Any:
        return lambda whom: self.done.append(f"{name} {whom}")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def scene(cluster: Cluster) -> Scene:
    target = Target.model_validate({"name": "t", "driver": "kafka_confluent", "system": {"brokers": 3}})
    case = load_case("e2e", target, Load(messages=10), "001", "run", parameters={})
    return Scene(case, cast("Any", cluster), cast("Any", cluster))


def test_the_leader_is_looked_up_when_it_happens_and_the_same_one_comes_back(cluster: Cluster) -> None:
    fault = BrokerKill(BrokerKillSpec(at=0), scene(cluster))
    cluster.leader = "broker-3"

    assert fault.begin() == "broker-3"
    cluster.leader = "broker-1"
    fault.end()

    assert cluster.done == ["kill broker-3", "start_again broker-3"]


def test_a_pause_is_taken_back_and_a_restart_without_time_at_once(cluster: Cluster) -> None:
    pause = BrokerPause(BrokerPauseSpec(at=0, broker="broker-1"), scene(cluster))
    restart = BrokerRestart(BrokerRestartSpec(at=0, broker="broker-1"), scene(cluster))

    pause.begin()
    pause.end()
    restart.begin()
    restart.end()

    assert cluster.done == ["pause broker-1", "unpause broker-1", "stop broker-1", "start_again broker-1"]
    assert (restart.ending, pause.ending) == (Ending.AT_ONCE, Ending.WITH_THE_CASE)


def test_the_controller_is_lost_whoever_that_is_and_comes_back(cluster: Cluster, tmp_path: Path) -> None:
    vote(cluster, tmp_path, {"broker-1": (3, 1), "broker-2": (7, 3)})
    fault = ControllerLoss(ControllerLossSpec(at=0), scene(cluster))

    assert fault.begin() == "broker-3"
    fault.end()

    assert cluster.done == ["kill broker-3", "start_again broker-3"]


def vote(cluster: Cluster, tmp_path: Path, votes: dict[str, tuple[int, int]]) -> None:
    """Epoch and leader, as each controller wrote them."""
    for name, (epoch, leader) in votes.items():
        folder = tmp_path / name / "__cluster_metadata-0"
        folder.mkdir(parents=True)
        (folder / "quorum-state").write_text(json.dumps({"leaderEpoch": epoch, "leaderId": leader}))
        cluster.data_folders[name] = tmp_path / name


def test_in_an_unclean_election_the_leader_dies_while_its_follower_is_behind(cluster: Cluster) -> None:
    fault = UncleanElection(UncleanElectionSpec(at=0), scene(cluster))

    before_ns = now_ns()
    assert fault.begin() == "broker-2, with broker-3 behind"
    assert fault.counts_from_ns is not None
    assert fault.counts_from_ns >= before_ns
    fault.end()

    wanted = ["pause broker-3", "kill broker-2", "unpause broker-3", "start_again broker-2"]
    assert cluster.done == wanted


def test_the_controller_is_whom_the_newest_vote_names(cluster: Cluster, tmp_path: Path) -> None:
    vote(cluster, tmp_path, {"broker-1": (3, 1), "broker-2": (7, 2), "broker-3": (6, 3)})

    assert controller_of(scene(cluster)) == "broker-2"
    cluster.data_folders.clear()
    with pytest.raises(CaseFailed, match="no controller"):
        controller_of(scene(cluster))


def test_only_what_this_run_started_is_touched(cluster: Cluster) -> None:
    foreign = replace(scene(cluster), members=None)
    with pytest.raises(BadInput, match="only done to what it started"):
        BrokerKill(BrokerKillSpec(at=0, broker="broker-1"), foreign).begin()
    cluster.leader = "broker-9"
    with pytest.raises(BadInput, match="broker-9 is no broker that this run started"):
        BrokerKill(BrokerKillSpec(at=0), scene(cluster)).begin()
    assert cluster.done == []


def test_all_parts_of_a_scene_are_restored_though_one_cannot_be() -> None:
    restored: list[str] = []

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def restore(self) -> None:
            restored.append(self.name)
            if self.name == "members":
                raise CaseFailed("broker-1 is gone")

    parts = {name: cast("Any", Part(name)) for name in ("disks", "links", "members", "servers")}
    with pytest.raises(CaseFailed, match=r"^broker-1 is gone$"):
        replace(scene(Cluster()), **parts).restore()

    assert restored == ["disks", "links", "members", "servers"]


@pytest.fixture
def three(tmp_path: Path) -> Iterator[KafkaCluster]:
    # Whoever is gone is noticed soon: the defaults would have the test wait for 9 s.
    soon = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}
    with KafkaCluster(
        brokers=3, log_dir=tmp_path, data_dir=tmp_path, properties=soon, java_options=LIGHT_JAVA
    ) as cluster:
        yield cluster


@pytest.mark.broker
def test_a_leader_is_killed_and_another_paused_and_no_acknowledged_message_is_lost(
    three: KafkaCluster,
) -> None:
    target = Target.model_validate({"name": "t", "driver": "kafka_confluent", "system": {"brokers": 3}})
    load = Load.model_validate(
        {"messages": 10, "topics": {"replicas": 3, "config": {"min.insync.replicas": "2"}}}
    )
    case = load_case("e2e", target, load, "001", "run", parameters={})
    driver = open_driver(target, three.endpoints())
    driver.prepare_topics(load.topics, case.topics)
    found = Scene(case, driver, three.members())
    kill = BrokerKill(BrokerKillSpec(at=0), found)
    pause = BrokerPause(BrokerPauseSpec(at=0, broker="controller"), found)
    bootstrap = three.endpoints()["bootstrap"]
    acked: list[bytes] = []
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 0}
    )
    for number in range(_MESSAGES):
        value = b"%d" % number
        producer.produce(
            case.topics[0],
            value,
            on_delivery=lambda error, message: acked.append(message.value()) if error is None else None,
        )
        producer.poll(0)
        if number == _MESSAGES // 3:
            killed = kill.begin()
            assert three.ended() is None  # it was to be
            wait_for(lambda gone=killed: driver.partition_state(case.topics[0], 0).leader != gone)
            kill.end()
        if number == 2 * _MESSAGES // 3:
            pause.begin()
            pause.end()
    assert producer.flush(60) == 0
    assert read(bootstrap, case.topics[0], len(acked)) == acked
    assert len(acked) == _MESSAGES
    driver.close()


def read(bootstrap: str, topic: str, count: int) -> list[bytes]:
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "g"})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    values: list[bytes] = []

    def all_there() -> bool:
        values.extend(message.value() for message in consumer.consume(1000, 0.2) if message.error() is None)
        return len(values) >= count

    wait_for(all_there)
    consumer.close()
    return values


def test_a_member_is_a_process_of_ours(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    members = Members({"broker-1": process}, lambda n: process, lambda n: True, lambda n: tmp_path / n)
    fault = BrokerKill(BrokerKillSpec(at=0, broker="broker-1"), replace(scene(Cluster()), members=members))
    try:
        assert fault.begin() == "broker-1"
        assert process.poll() is not None
    finally:
        process.kill()
        process.wait()
