"""A burst through a broker of our own: bounded, gone afterwards, and nobody's failure."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from confluent_kafka.admin import AdminClient

from streamgauge.systems import kafka_priming
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.kafka_priming import prime_kafka
from tests.waiting import wait_for


@pytest.mark.broker
def test_a_burst_goes_through_and_its_topic_goes_too(tmp_path: Path) -> None:
    with KafkaCluster(log_dir=tmp_path) as cluster:
        cluster.prime(Event())
        primed = cluster.settings()["primed"]
        assert isinstance(primed, dict)
        assert primed["took_s"] > 0
        connection = {"bootstrap.servers": cluster.endpoints()["bootstrap"]}
        enough = prime_kafka(connection, 1, Event(), limit_s=60.0, most_messages=20)
        assert enough is not None
        assert 20 <= enough.messages_count <= 1000
        admin = AdminClient(connection)
        wait_for(lambda: not [t for t in admin.list_topics(timeout=60).topics if "priming" in t])

        told = Event()
        told.set()
        ended = prime_kafka(connection, 1, told)
        assert ended is not None
        assert ended.messages_count == 0, "who is told to end sends nothing more"


def test_a_broker_that_is_not_there_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_priming, "_TOPIC_DEADLINE_S", 0.2)
    assert prime_kafka({"bootstrap.servers": "127.0.0.1:1"}, 1, Event()) is None


def test_a_cluster_that_was_not_launched_is_not_primed(tmp_path: Path) -> None:
    cluster = KafkaCluster(log_dir=tmp_path)
    cluster.prime(Event())
    assert cluster._primed is None
