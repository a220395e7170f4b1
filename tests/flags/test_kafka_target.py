from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.flags.embedded import embedded_system
from streamgauge.flags.kafka_target import kafka_target, name_of
from streamgauge.spec.target import Target
from streamgauge.systems import local_cluster
from streamgauge.systems.local_cluster import LocalCluster


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (None, "kafka"),
        ("broker-1.example.org:9092,broker-2:9092", "broker-1"),
        ("127.0.0.1:9092", "127.0.0.1"),
        ("[::1]:9092", "1"),
    ],
)
def test_a_cluster_is_named_by_its_first_host(address: str | None, name: str) -> None:
    assert name_of(address) == name


def test_an_address_a_file_or_an_embedded_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_cluster, "status", lambda: None)
    file = tmp_path / "target.yaml"
    file.write_text("{name: mine, driver: kafka_confluent, settings: {bootstrap: 'there:1'}}")
    assert kafka_target("here:2", None, None)["settings"] == {"bootstrap": "here:2"}
    assert kafka_target("here:2", file, None)["settings"] == {"bootstrap": "here:2"}
    assert kafka_target(None, file, None)["settings"] == {"bootstrap": "there:1"}
    made = Target.model_validate(kafka_target(None, None, 3))
    assert made.system is not None
    assert made.system.process_count == 3


def test_brokers_are_those_of_the_embedded_one_only() -> None:
    with pytest.raises(BadInput, match="--brokers is for the embedded Kafka"):
        kafka_target("here:2", None, 3)


def test_a_cluster_that_is_up_says_how_many_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    running = LocalCluster(5, "127.0.0.1:1", {}, "data", "logs", ready=True)
    monkeypatch.setattr(local_cluster, "status", lambda: running)
    assert embedded_system(None) == {"brokers": 5}
    assert embedded_system(1) == {"brokers": 1}
