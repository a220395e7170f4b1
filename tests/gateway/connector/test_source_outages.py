"""Kafka gone and back, and a Kafka that wants TLS and a password: brokers of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from streamgauge.systems.kafka_cluster import KafkaCluster
from tests.light_java import LIGHT_JAVA

from .certificates import authority, signed_by, write_pkcs12
from .kafka_side import Sender, assigned, new_topic, reading, run, source_of, until

pytestmark = pytest.mark.broker

# A broker that comes back may wait for the members it remembers until their sessions time out: let that
# be soon, the least that brokers allow, and not the 45 s of the default.
HASTY = {"record__consume__with__session__timeout__ms": "6000"}
AFTER_OUTAGE_S = 100.0
"""Most often it takes no longer than such a session; now and then a client joins its group twice."""


def test_nothing_is_lost_or_repeated_when_kafka_goes_and_comes_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with KafkaCluster(log_dir=tmp_path, java_options=LIGHT_JAVA) as cluster:
        bootstrap = cluster.endpoints()["bootstrap"]
        topic = new_topic(bootstrap, partitions=3)
        silent = new_topic(bootstrap)

        async def test() -> None:
            source, waiting = source_of(bootstrap, topic, **HASTY), source_of(bootstrap, silent, **HASTY)
            late = source_of(bootstrap, topic, record__consume__from="EARLIEST")
            async with reading(source) as listener, reading(waiting) as idle, reading(late) as latecomer:
                source.subscribe("i")
                waiting.subscribe("i")
                await assigned(source)
                await assigned(waiting)
                send_all(0, 200)
                await until(lambda: len(listener.events) == 200)
                await asyncio.to_thread(cluster.halt)
                late.subscribe("i")  # While it is gone.
                await asyncio.to_thread(cluster.resume)
                await asyncio.to_thread(send_all, 200, 400)
                await asyncio.to_thread(Sender(bootstrap), silent, b"first of all")
                await until(lambda: len(listener.events) >= 400, AFTER_OUTAGE_S)
                await until(lambda: len(idle.events) >= 1, AFTER_OUTAGE_S)
                await until(lambda: len(latecomer.events) >= 400, AFTER_OUTAGE_S)
                await asyncio.sleep(1)
                for told in (listener, latecomer):
                    assert sorted(int(f["v"] or "") for _, f in told.updates()) == list(range(400))
                assert [fields["v"] for _, fields in idle.updates()] == ["first of all"]

        def send_all(first: int, last: int) -> None:
            send = Sender(bootstrap)
            for number in range(first, last):
                send._producer.produce(topic, str(number).encode(), partition=number % 3)
            send(topic)

        with caplog.at_level("WARNING", "streamgauge.gateway"):
            run(test())
    assert "connection Q: Kafka" in caplog.text


def test_tls_and_a_password(tmp_path: Path) -> None:
    ca = authority()
    server = signed_by(ca, "broker")
    trust = write_pkcs12(tmp_path / "trust.jks", None, [ca], b"trustpass")
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    properties = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": (
            f'{module} required username="u" password="p" user_u="p";'
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": server.pem().decode(),
        "ssl.keystore.key": server.key_pem().decode(),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": ca.pem().decode(),
    }
    client: dict[str, Any] = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "u",
        "sasl.password": "p",
        "ssl.ca.pem": ca.pem().decode(),
    }
    with KafkaCluster(log_dir=tmp_path, properties=properties, java_options=LIGHT_JAVA) as cluster:
        bootstrap = cluster.endpoints()["bootstrap"]
        topic = new_topic(bootstrap, **client)
        Sender(bootstrap, **client)(topic, b"sealed")
        secured = {
            "record__consume__from": "EARLIEST",
            "encryption__enable": "true",
            "encryption__truststore__path": str(trust),
            "encryption__truststore__password": "trustpass",
            "encryption__hostname__verification__enable": "true",
            "authentication__enable": "true",
            "authentication__username": "u",
        }

        async def test() -> None:
            source = source_of(bootstrap, topic, **secured, authentication__password="p")
            async with reading(source) as listener:
                source.subscribe("i")
                await until(lambda: bool(listener.events))
                assert listener.updates() == [("i", {"v": "sealed"})]
            stranger = source_of(bootstrap, topic, **secured, authentication__password="guess")
            async with reading(stranger) as listener:
                stranger.subscribe("i")
                await until(lambda: bool(listener.events))
                [(kind, why)] = listener.events
                assert kind == "failed"
                assert why.startswith("connection Q: Kafka refuses: ")
                assert "uthentication failed" in why
                assert "guess" not in why

        run(test())
