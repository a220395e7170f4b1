"""Faults of disks: a broker that cannot write goes down, and is back when there is room, with all it had."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import confluent_kafka
import pytest

from streamgauge.core.fault_figures import FaultEffects
from streamgauge.drivers.registry import open_driver
from streamgauge.faults import disks as disk_faults
from streamgauge.faults.contract import Scene
from streamgauge.faults.disks import DiskFull, DiskFullSpec, DiskSlow, DiskSlowSpec
from streamgauge.plan.cases import load_case
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.load import Load
from streamgauge.spec.target import Target
from streamgauge.systems.disks import DiskFault, DiskHits, why_no_disks
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.kafka_cluster import KafkaCluster
from tests.light_java import LIGHT_JAVA
from tests.waiting import wait_for

from .test_brokers import Cluster, read, scene


class Recorded:
    """Disks that only say what is wrong with them."""

    def __init__(self) -> None:
        self.now: dict[int, tuple[str, DiskFault]] = {}
        self.hit = DiskHits(0, 0)

    def disturb(self, name: str, fault: DiskFault) -> int:
        self.now[len(self.now)] = (name, fault)
        return len(self.now) - 1

    def clear(self, number: int) -> None:
        del self.now[number]

    def hits(self, name: str) -> DiskHits:
        return self.hit


class FrailCluster(Cluster):
    """Of which a broker may have ended by itself."""

    gone: frozenset[str] = frozenset()

    def has_ended(self, name: str) -> bool:
        return name in self.gone


@pytest.fixture
def disks() -> Recorded:
    return Recorded()


@pytest.fixture
def cluster() -> FrailCluster:
    return FrailCluster()


@pytest.fixture
def found(cluster: FrailCluster, disks: Recorded) -> Scene:
    return replace(scene(cluster), disks=cast("Any", disks))


def test_the_leaders_disk_is_full_and_whoever_went_down_for_it_is_saved(
    found: Scene, cluster: FrailCluster, disks: Recorded
) -> None:
    disks.hit = DiskHits(refused_count=10, delayed_count=3)  # of one before
    fault = DiskFull(DiskFullSpec(at=0), found)

    assert fault.begin() == "disk of broker-2"
    assert disks.now == {0: ("broker-2", DiskFault(is_full=True))}
    fault.look()
    assert fault.effects() == FaultEffects(refused_count=0)
    disks.hit, cluster.gone = DiskHits(refused_count=14, delayed_count=3), frozenset({"broker-2"})
    fault.look()
    fault.end()

    assert disks.now == {}
    assert cluster.done == ["endanger broker-2", "rescue broker-2"]
    assert fault.effects().refused_count == 4
    assert fault.effects().down_after_s is not None


def test_one_that_is_on_its_way_down_when_there_is_room_again_is_waited_for(
    found: Scene, cluster: FrailCluster, disks: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = DiskFull(DiskFullSpec(at=0), found)
    fault.begin()
    disks.hit = DiskHits(refused_count=1, delayed_count=0)

    def goes_down(seconds: float) -> None:
        cluster.gone = frozenset({"broker-2"})

    monkeypatch.setattr(time, "sleep", goes_down)
    fault.end()

    assert fault.effects().down_after_s is not None


@pytest.mark.parametrize(
    ("operations", "wanted"),
    [
        ("all", DiskFault(write_delay_s=0.02, sync_delay_s=0.02)),
        ("writes", DiskFault(write_delay_s=0.02)),
        ("syncs", DiskFault(sync_delay_s=0.02)),
    ],
)
def test_a_slow_disk_is_slow_at_what_the_workload_says(
    found: Scene, cluster: FrailCluster, disks: Recorded, operations: str, wanted: DiskFault
) -> None:
    spec = DiskSlowSpec.model_validate(
        {"at": 0, "delay": "20ms", "operations": operations, "broker": "broker-3"}
    )
    fault = DiskSlow(spec, found)

    assert fault.begin() == "disk of broker-3"
    assert disks.now == {0: ("broker-3", wanted)}
    disks.hit = DiskHits(refused_count=0, delayed_count=7)
    fault.end()

    assert disks.now == {}
    assert fault.effects() == FaultEffects(delayed_count=7)


def test_what_is_needed_is_said_before_anything_starts(found: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = FaultSpec.model_validate({"kind": "disk_full", "at": 0})
    assert DiskFull.equipment(spec) == Equipment(disks=True)
    monkeypatch.setattr(disk_faults, "why_no_disks", lambda: None)
    assert DiskFull.why_impossible(spec, found.case) is None
    monkeypatch.setattr(disk_faults, "why_no_disks", lambda: "there is no C compiler (cc)")
    assert DiskFull.why_impossible(spec, found.case) == "load.faults: disk_full: there is no C compiler (cc)"
    target = Target.model_validate({"name": "r", "driver": "redis", "system": {"kind": "redis_server"}})
    other = found.case.model_copy(update={"target": target})
    assert "has no brokers to hit" in str(DiskFull.why_impossible(spec, other))


@pytest.fixture
def one(tmp_path: Path) -> Iterator[KafkaCluster]:
    made = KafkaCluster(log_dir=tmp_path, data_dir=tmp_path, java_options=LIGHT_JAVA)
    made.equip(Equipment(disks=True))
    with made as cluster:
        yield cluster


@pytest.mark.broker
@pytest.mark.skipif(why_no_disks() is not None, reason=str(why_no_disks()))
def test_a_broker_with_a_full_disk_goes_down_and_has_all_it_acknowledged_when_there_is_room(
    one: KafkaCluster, tmp_path: Path
) -> None:
    target = Target.model_validate({"name": "t", "driver": "kafka_confluent", "system": {"brokers": 1}})
    case = load_case("e2e", target, Load(messages=10), "001", "run", parameters={})
    driver = open_driver(target, one.endpoints())
    driver.prepare_topics(case.load.topics, case.topics)
    scene = Scene(case, driver, one.members(), disks=one.disks())
    bootstrap, topic, acked = one.endpoints()["bootstrap"], case.topics[0], list[bytes]()
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})

    def send(value: bytes) -> None:
        producer.produce(
            topic, value, on_delivery=lambda error, m: None if error else acked.append(m.value())
        )

    send(b"before")
    assert producer.flush(30) == 0
    slow = DiskSlow(DiskSlowSpec.model_validate({"at": 0, "delay": "1ms"}), scene)
    slow.begin()
    send(b"slow")
    assert producer.flush(30) == 0
    slow.end()
    assert (slow.effects().delayed_count or 0) > 0

    full = DiskFull(DiskFullSpec(at=0), scene)
    full.begin()
    send(b"refused, and sent again")
    producer.poll(0)
    wait_for(lambda: one.members().has_ended("broker-1"))
    assert one.ended() is None  # it was to be
    full.look()
    full.end()

    assert producer.flush(60) == 0
    assert read(bootstrap, topic, 3) == acked == [b"before", b"slow", b"refused, and sent again"]
    assert (full.effects().refused_count or 0) > 0
    assert full.effects().down_after_s is not None
    assert "No space left on device" in (tmp_path / "broker-1-before-1.log").read_text()
    driver.close()
