"""What tests of several rooms share."""

from __future__ import annotations

import signal
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.core.guardian import farewell
from streamgauge.core.other_schemes import other_schemes
from streamgauge.launch.hadoop_java import hadoop_java
from streamgauge.launch.spark_session import _SETTINGS, spark_session
from streamgauge.systems.debian_packages import Program
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.rabbitmq_server import rabbitmq_program
from streamgauge.systems.redis_server import redis_program
from tests.light_java import LIGHT_JAVA
from tests.scheduling import give_second_tries, heaviest_first

_JAVA_DEADLINE_S = 30.0

# Shipped suites say what an assertion saw, as tests here do.
pytest.register_assert_rewrite(
    "streamgauge.testing.driver_suite",
    "streamgauge.testing.family_suite",
    "streamgauge.testing.kafka_suite",
    "streamgauge.testing.wired",
)


def pytest_configure(config: pytest.Config) -> None:
    _hear_endings()
    _check_entry_points(config)


def _hear_endings() -> None:
    """A suite that was started with `nohup` or `&` would have every command ignore these."""
    for ending in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(ending) is signal.SIG_IGN:
            signal.signal(ending, signal.default_int_handler)


def _check_entry_points(config: pytest.Config) -> None:
    """Entry points are read from what was installed, which a change of pyproject.toml does not reach."""
    project = tomllib.loads((config.rootpath / "pyproject.toml").read_text())["project"]
    for group, written in project["entry-points"].items():
        installed = {(point.name, point.value) for point in entry_points(group=group)}
        missing = sorted(name for name, value in written.items() if (name, value) not in installed)
        if missing:
            pytest.exit(
                f"{group}: {', '.join(missing)} not installed here as written; "
                "run: pip install --no-deps --no-build-isolation -e .",
                returncode=pytest.ExitCode.USAGE_ERROR,
            )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--second-tries",
        action="store_true",
        help="tests with a broker, Spark, a browser or processes of their own may fail once; -rR lists them",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    heaviest_first(items)
    if config.getoption("--second-tries"):
        give_second_tries(items)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """As every command ends: nobody leaves a Java for the interpreter to find, and its classes are kept.

    Last of all: when somebody interrupts us, fixtures are ended in this hook, too.
    """
    context: Any = SparkContext
    kept = [context._gateway] if context._gateway is not None else []
    if hadoop_java.cache_info().currsize:
        kept.append(hadoop_java())
    for java in kept:
        with suppress(OSError, Py4JError):  # it may have been ended together with us
            java.shutdown()
            java.proc.stdin.close()  # then it ends
        try:
            java.proc.wait(_JAVA_DEADLINE_S)
        except subprocess.TimeoutExpired:
            java.proc.kill()
            java.proc.wait()
    farewell()


@pytest.fixture(autouse=True)
def _file_systems_of_its_own() -> Iterator[None]:
    """A command that a test carries out in this process says who opens other files: for that test only."""
    before = list(other_schemes)
    yield
    other_schemes[:] = before


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bootstrap address of one real broker for the whole session."""
    logs = tmp_path_factory.mktemp("kafka-logs")
    with KafkaCluster(brokers=1, log_dir=logs, java_options=LIGHT_JAVA) as cluster:
        yield cluster.endpoints()["bootstrap"]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One Spark session for all tests that compute in this process."""
    with pytest.MonkeyPatch.context() as patch:
        # No agents are run on it: a Python process that has loaded everything may take the next task, too.
        patch.setitem(_SETTINGS, "spark.python.worker.reuse", "true")
        log = tmp_path_factory.mktemp("spark") / "log"
        with spark_session("local[2]", log=log, is_light=True) as session:
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
