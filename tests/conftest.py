"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from streamgauge.launch.spark_session import spark_session
from streamgauge.systems.kafka_cluster import KafkaCluster


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bootstrap address of one real broker for the whole session."""
    with KafkaCluster(brokers=1, log_dir=tmp_path_factory.mktemp("kafka-logs")) as cluster:
        yield cluster.endpoints()["bootstrap"]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One Spark session for all tests that compute in this process."""
    with spark_session("local[2]", log=tmp_path_factory.mktemp("spark") / "log") as session:
        yield session
