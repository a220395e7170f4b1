"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamgauge.systems.kafka_cluster import KafkaCluster


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bootstrap address of one real broker for the whole session."""
    with KafkaCluster(brokers=1, log_dir=tmp_path_factory.mktemp("kafka-logs")) as cluster:
        yield cluster.endpoints()["bootstrap"]
