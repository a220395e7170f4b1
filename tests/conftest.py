"""What tests of several rooms share."""

from __future__ import annotations

import gc
import signal
import subprocess
import tomllib
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.core.guardian import farewell
from streamgauge.core.other_schemes import other_schemes
from streamgauge.launch.hadoop_java import hadoop_java
from streamgauge.systems.debian_packages import Program
from streamgauge.systems.kafka_cluster import KafkaCluster
from streamgauge.systems.rabbitmq_server import rabbitmq_program
from streamgauge.systems.redis_server import redis_program
from streamgauge.testing.machines.bed import why_no_machines
from tests.cli.streamgauge_command import Streamgauge, in_process
from tests.light_java import LIGHT_JAVA
from tests.scheduling import forget_what_failed, give_second_tries, heaviest_first
from tests.shared_spark import shared_spark

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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules of all tests are there to stay: nobody who looks for garbage has to look at them, each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    heaviest_first(items)
    if config.getoption("--second-tries"):
        give_second_tries(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    forget_what_failed(item)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Why a first try failed: whoever sees `RERUN` has a defect to mend."""
    for report in terminalreporter.stats.get("rerun", ()):
        crash = getattr(report.longrepr, "reprcrash", None)
        terminalreporter.write_line(f"first try of {report.nodeid}: {crash or report.longreprtext[-2000:]}")


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
def spark_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of this process's Spark, which ends with its tests."""
    yield tmp_path_factory.mktemp("spark") / "log"
    shared_spark.end()


@pytest.fixture(scope="module")
def spark(spark_log: Path) -> Iterator[SparkSession]:
    """One Spark session for tests that compute in this process, as long as no run needs one of its own."""
    with shared_spark.in_use(spark_log) as session:
        yield session


@pytest.fixture
def no_session(spark_log: Path) -> None:
    """For a test that starts Spark in this process, which has one session at a time."""
    shared_spark.make_way(spark_log)


@pytest.fixture(scope="session")
def run_here(spark_log: Path) -> Streamgauge:
    """A run in this process, whose Java it shares: for what is measured, said and written.

    As a process it is run by tests of what becomes of processes.
    """

    def run(*arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
        shared_spark.make_way(spark_log)
        return in_process(*arguments, **how)

    return run


@pytest.fixture(scope="session")
def redis_is_there() -> None:
    """Installed, or fetched now; else there is nothing to test with."""
    _skip_without(redis_program)


@pytest.fixture(scope="session")
def rabbitmq_is_there() -> None:
    _skip_without(rabbitmq_program)


@pytest.fixture(scope="session")
def machines_are_there() -> None:
    """Network namespaces and all that makes machines of them; else there is nothing to test on."""
    if (why := why_no_machines()) is not None:
        pytest.skip(f"no machines here: {why}")


def _skip_without(find: Callable[[], Program]) -> None:
    try:
        find()
    except (NotInstalled, SystemFailed) as error:
        pytest.skip(f"not to be had here: {error}")
