from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.core.errors import BadInput, SystemFailed, Unreachable
from streamgauge.core.guardian import without_mark
from streamgauge.core.outside import Outside
from streamgauge.drivers.kafka.connection import login
from streamgauge.systems import kafka_properties
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.kafka_properties import Node, new_uuid
from streamgauge.systems.links import Condition
from streamgauge.systems.ports import HOST, free_ports
from tests.light_java import LIGHT_JAVA

QUIET = {"log_level": 0}


def one_message_there_and_back(bootstrap: str, replicas: int) -> bytes:
    client = {"bootstrap.servers": bootstrap, **QUIET}
    admin = AdminClient(client)
    admin.create_topics([NewTopic("t", 1, replicas)])["t"].result(60)
    producer = Producer({**client, "acks": "all"})
    producer.produce("t", b"hello")
    assert producer.flush(20) == 0
    consumer = Consumer({**client, "group.id": "g", "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe(["t"])
        message = consumer.poll(20)
        assert message is not None
        assert message.error() is None
        return bytes(message.value() or b"")
    finally:
        consumer.close()


@pytest.mark.broker
def test_an_address_for_other_hosts_lets_nobody_in_without_the_token(tmp_path: Path) -> None:
    cluster = KafkaCluster(brokers=1, log_dir=tmp_path / "logs", data_dir=tmp_path / "data")
    cluster.outside = Outside(HOST, "the token of this run")
    with cluster:
        told = cluster.agents_endpoints()
        assert told["bootstrap"] != cluster.endpoints()["bootstrap"]
        client = {"bootstrap.servers": told["bootstrap"], **QUIET}
        known = {**client, **login("librdkafka", told["bootstrap_login"], "the token of this run")}
        brokers = AdminClient(known).list_topics(timeout=60).brokers.values()
        assert [f"{broker.host}:{broker.port}" for broker in brokers] == [told["bootstrap"]]
        wrong = {**client, **login("librdkafka", told["bootstrap_login"], "a guess")}
        for stranger in (client, wrong):
            with pytest.raises(KafkaException):
                AdminClient(stranger).list_topics(timeout=3)


def wait_until_gone(pids: list[int], deadline_s: float = 30) -> bool:
    until = time.monotonic() + deadline_s
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(psutil.pid_exists, pids))


def through_links(cluster: KafkaCluster) -> None:
    """Agents come through a link, are told to stay there, and feel it when it is cut."""
    links, bootstrap = cluster.links(), cluster.agents_endpoints()["bootstrap"]
    assert links is not None
    client = {"bootstrap.servers": bootstrap, "message.timeout.ms": 60_000, **QUIET}
    [broker] = AdminClient(client).list_topics(timeout=60).brokers.values()
    assert f"{broker.host}:{broker.port}" == bootstrap
    producer = Producer(client)
    cut = links.disturb(links.names, Condition(is_cut=True))
    producer.produce("t", b"held")
    assert producer.flush(0.5) == 1
    links.clear(cut)
    assert producer.flush(60) == 0


@pytest.mark.broker
def test_one_broker_carries_a_message_and_leaves_nothing(tmp_path: Path) -> None:
    whole = KafkaCluster(brokers=1, log_dir=tmp_path / "logs", data_dir=tmp_path / "data")
    whole.equip(Equipment(links=True))
    with whole as cluster:
        assert one_message_there_and_back(cluster.endpoints()["bootstrap"], replicas=1) == b"hello"
        through_links(cluster)
        pids = list(cluster.processes().values())
        assert list(cluster.processes()) == ["broker-1"]
        assert cluster.settings()["kafka"] == "4.3.1"
        # A Ctrl-C in the terminal goes to its foreground process group, which is not the brokers'.
        assert os.getpgid(pids[0]) != os.getpgid(0)
    assert wait_until_gone(pids)
    assert list((tmp_path / "data").iterdir()) == []
    assert "Kafka Server started" in cluster.log_file("broker-1").read_text()
    assert cluster.processes() == {}


@pytest.mark.broker
def test_three_brokers_replicate(tmp_path: Path) -> None:
    with KafkaCluster(brokers=3, log_dir=tmp_path, data_dir=tmp_path, java_options=LIGHT_JAVA) as cluster:
        bootstrap = cluster.endpoints()["bootstrap"]
        assert len(bootstrap.split(",")) == 3
        assert one_message_there_and_back(bootstrap, replicas=3) == b"hello"


@pytest.mark.broker
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel feature is Linux's")
def test_a_killed_parent_takes_its_broker_along(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time; from streamgauge.systems.kafka_cluster import KafkaCluster;"
        "here = pathlib.Path(sys.argv[1]); cluster = KafkaCluster(log_dir=here, data_dir=here / 'data');"
        "cluster.launch(); print(*cluster.processes().values(), flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=without_mark(),  # a command of its own, and no part of whoever runs this
    )
    with parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert pids
        assert psutil.pid_exists(pids[0])
        parent.send_signal(signal.SIGKILL)
    assert wait_until_gone(pids)


@pytest.mark.broker
def test_a_start_that_fails_says_why_in_one_line(tmp_path: Path) -> None:
    cluster = KafkaCluster(log_dir=tmp_path, data_dir=tmp_path / "data", heap="1k")
    with pytest.raises(SystemFailed) as error:
        cluster.start()
    message = str(error.value)
    assert "broker-1" in message
    assert "heap" in message
    assert "\n" not in message
    assert str(tmp_path / "broker-1.log") in message
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.broker
def test_a_bad_property_says_which(tmp_path: Path) -> None:
    cluster = KafkaCluster(
        log_dir=tmp_path, data_dir=tmp_path / "data", properties={"num.io.threads": "many"}
    )
    with pytest.raises(SystemFailed, match=r"num\.io\.threads"):
        cluster.start()


@pytest.mark.broker
def test_a_taken_port_is_replaced_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = kafka_properties.new_nodes
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        bad = [Node(1, port, free_ports(1)[0], new_uuid())]
        answers = [bad]
        monkeypatch.setattr(
            kafka_properties, "new_nodes", lambda *counts: answers.pop() if answers else choose(*counts)
        )
        with KafkaCluster(log_dir=tmp_path, data_dir=tmp_path, java_options=LIGHT_JAVA) as cluster:
            assert not answers
            assert cluster.endpoints()["bootstrap"] != f"{HOST}:{port}"


@pytest.mark.broker
def test_a_late_start_is_unreachable_and_cleaned_up(tmp_path: Path) -> None:
    cluster = KafkaCluster(log_dir=tmp_path, data_dir=tmp_path / "data")
    cluster.launch()
    pids = list(cluster.processes().values())
    with pytest.raises(Unreachable, match="not ready after 0 s"):
        cluster.wait_ready(0)
    assert wait_until_gone(pids)
    assert list((tmp_path / "data").iterdir()) == []


def test_bad_input_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="2 brokers"):
        KafkaCluster(log_dir=tmp_path, brokers=2)
    with pytest.raises(BadInput, match="listeners"):
        KafkaCluster(log_dir=tmp_path, properties={"listeners": "x"})


def test_waiting_for_what_was_not_launched_is_an_error(tmp_path: Path) -> None:
    cluster = KafkaCluster(log_dir=tmp_path)
    with pytest.raises(SystemFailed, match="not launched"):
        cluster.wait_ready(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cluster.stop()


def test_what_an_ack_is_worth_is_in_its_description(tmp_path: Path) -> None:
    assert (
        KafkaCluster(log_dir=tmp_path)
        .description()
        .endswith("1 broker, synced when the operating system flushes")
    )
    flushing = KafkaCluster(log_dir=tmp_path, properties={"log.flush.interval.messages": "1"})
    assert flushing.description().endswith("synced as log.flush.* says")
