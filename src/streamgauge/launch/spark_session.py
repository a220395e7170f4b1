"""The Spark session that agents and analysis run on."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from streamgauge.core.errors import BadInput
from streamgauge.core.guardian import guard, temporary_folder
from streamgauge.jvm.java import spark_java_home
from streamgauge.launch import python_daemon
from streamgauge.launch.cluster_settings import (
    ClusterSettings,
    check_anybody_came,
    cluster_settings,
    slots_watched,
    slots_within_deadline,
)
from streamgauge.launch.driver_java import LAUNCHER_OPTIONS, DriverJava, executor_options
from streamgauge.plan.slots import check_slots, local_slots

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
    # Else every column operation sends its call site to Java: more calls than the operation itself.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # An agent that dies ends the case; running it again would measure something else.
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "3s",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "2",
    # Killed tasks must let go of their Python processes soon, so that agents see the end of their input.
    "spark.python.task.killTimeout": "1s",
    "spark.python.worker.reuse": "false",
    "spark.task.reaper.enabled": "false",
}


_TURNED_AWAY = ("All masters are unresponsive", "stopped SparkContext")
_STOP_DEADLINE_S = 15.0


@contextmanager
def spark_session(
    master: str,
    slots_needed: int = 1,
    log: Path | None = None,
    log_level: str = "ERROR",
    *,
    spare_slots: int = 0,
    jars: Sequence[Path] = (),
    is_light: bool = False,
) -> Iterator[SparkSession]:
    """A session on `master`; checks that it has enough slots, and ends with the block.

    What Spark and its processes print goes to `log`, so that the terminal is ours. `spare_slots`: beyond
    those that are needed, if they can be had; `jars`: what Spark is to load beside its own. `is_light`: there
    is so little for Spark to compute that its Java is told to stay out of the way of what is measured.
    """
    local = local_slots(master)
    if local is not None:
        check_slots(slots_needed, local, master)
    on_cluster = cluster_settings(master, slots_needed + spare_slots) if local is None else ClusterSettings()
    settings = {"spark.master": master, "spark.app.name": "streamgauge", **_SETTINGS, **on_cluster.settings}
    java = DriverJava(is_light=is_light)
    settings["spark.driver.extraJavaOptions"] = java.options()
    if local is not None:  # elsewhere Spark starts before there is a package of ours
        settings["spark.python.daemon.module"] = python_daemon.__name__
    else:  # in front of what spark-defaults.conf may have for them
        settings["spark.executor.defaultJavaOptions"] = executor_options(is_light=is_light)
    if jars:
        settings["spark.jars"] = ",".join(map(str, jars))
    try:
        on_interrupt = signal.getsignal(signal.SIGINT)
        variables = {**_for_spark(is_local=local is not None), **on_cluster.environment}
        with java_is_ours(), _environment(variables), output_to(log):
            session = _started(settings, on_cluster.secrets)
        if threading.current_thread() is threading.main_thread():
            # Spark puts its own in place, which does not know of cases that have to be ended well.
            signal.signal(signal.SIGINT, on_interrupt)
    except Exception as error:  # py4j and Spark raise all sorts of things here
        raise BadInput(f"--master {master}: {why_no_session(error)}") from error
    is_whole = True
    try:
        # It would print a traceback when Java is ended together with us.
        server: Any = session.sparkContext._accumulatorServer
        server.handle_error = lambda *_: None
        session.sparkContext.setLogLevel(log_level)
        if local is not None:
            yield session
            return
        slots = slots_within_deadline(session, slots_needed)
        check_anybody_came(slots, master, settings.get("spark.driver.host"))
        check_slots(slots_needed, slots, master)
        with slots_watched(session):
            yield session
    except BaseException:
        is_whole = False
        raise
    finally:
        _stop(session)
        java.end(leaves_archive=is_whole)


def why_no_session(error: Exception) -> str:
    """A master does not answer who has another secret than its own; Spark gives up after a minute."""
    if any(words in str(error) for words in _TURNED_AWAY):
        return (
            "the leader did not let this host in; has it the same secret (--secret-file, "
            "STREAMGAUGE_SECRET), and the same streamgauge?"
        )
    return f"Spark cannot start: {first_line(error)}"


def _started(settings: dict[str, str], secrets: dict[str, str]) -> SparkSession:
    """Java first: what it is started with is on its command line, where everybody can read it."""
    conf: Any = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    context: Any = SparkContext
    context._ensure_initialized(conf=conf)
    builder: Any = SparkSession.builder
    for key, value in {**settings, **secrets}.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    return session


def _stop(session: SparkSession) -> None:
    """Stop the session; when it does not answer, end its Java process, which is ours."""

    def stop() -> None:
        # A signal to our whole process group has ended Java already: then there is nothing to stop.
        with contextlib.suppress(Py4JError, OSError):
            session.stop()

    stopping = threading.Thread(target=stop, name="spark-stop", daemon=True)
    stopping.start()
    stopping.join(_STOP_DEADLINE_S)
    if stopping.is_alive():
        gateway: Any = session.sparkContext._gateway
        gateway.proc.kill()


def _for_spark(is_local: bool) -> dict[str, str]:
    variables = {
        "JAVA_HOME": str(spark_java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LAUNCHER_OPTS": os.environ.get("SPARK_LAUNCHER_OPTS", LAUNCHER_OPTIONS),
    }
    return {"SPARK_LOCAL_IP": "127.0.0.1", **variables} if is_local else variables


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Spark reads them while it starts; they are nobody else's business."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def environment_of_spark() -> Iterator[None]:
    """For whoever starts Spark's Java on this host, for something else than a session."""
    with java_is_ours(), _environment(_for_spark(is_local=True)):
        yield


@contextmanager
def java_is_ours() -> Iterator[None]:
    """PySpark knows its Java only once it answers; before, and when we are killed, our guardian ends it.

    The file in which Java tells its address is temporary too.
    """
    guard()
    before, tempfile.tempdir = tempfile.tempdir, str(temporary_folder())
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def output_to(log: Path | None) -> Iterator[None]:
    """The Java process inherits standard output and error; they are swapped while it starts."""
    if log is None:
        yield
        return
    sys.stdout.flush()
    sys.stderr.flush()
    ours = [os.dup(1), os.dup(2)]
    theirs = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(theirs, 1)
        os.dup2(theirs, 2)
        yield
    finally:
        for number, kept in zip((1, 2), ours, strict=True):
            os.dup2(kept, number)
            os.close(kept)
        os.close(theirs)


def first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
