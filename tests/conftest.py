"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.launch.spark_session import spark_session
from streamgauge.systems.debian_packages import Program
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.rabbitmq_server import rabbitmq_program
from streamgauge.systems.redis_server import redis_program


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


@pytest.fixture(scope="session")
def redis_is_there() -> None:
    """Installed, or fetched now; else there is nothing to test with."""
    _skip_without(redis_program)


@pytest.fixture(scope="session")
def rabbitmq_is_there() -> None:
    _skip_without(rabbitmq_program)


def _skip_without(find: Callable[[], Program]) -> None:
    try:
        find()
    except (NotInstalled, SystemFailed) as error:
        pytest.skip(f"not to be had here: {error}")
