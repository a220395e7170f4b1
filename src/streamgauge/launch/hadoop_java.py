"""A Java process with all that Spark has on its class path and in its settings, but no Spark context.

It is for Spark's file systems: a run folder is made before Spark starts, and read where no Spark is. Every
question has a deadline. It ends with this process.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import (
    CALL_COMMAND_NAME,
    END_COMMAND_PART,
    Py4JError,
    Py4JJavaError,
    get_return_value,
)
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.driver_java import light_options
from streamgauge.launch.spark_session import environment_of_spark, first_line, output_to

DEADLINE_S = 60.0
_MEMORY = "512m"
_IMPATIENT = {
    # By default a name node that is not there is asked for a quarter of an hour.
    "ipc.client.connect.timeout": "5000",
    "ipc.client.connect.max.retries": "3",
    "ipc.client.connect.max.retries.on.timeouts": "3",
    "dfs.client.failover.max.attempts": "3",
    "dfs.client.retry.policy.enabled": "false",
}


def check_folders_scheme(location: str) -> None:
    """BadInput when neither pyarrow nor Spark has a file system for a URL."""
    if RunDir(location).is_behind_spark:
        check_scheme(urlsplit(location).scheme)


@cache
def check_scheme(scheme: str) -> None:
    java = hadoop_java()
    find = java.jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass
    try:
        ask(find, scheme, hadoop_configuration())
    except OSError as error:
        raise BadInput(
            f"{scheme}://: Spark has no file system for it ({error}); name its jar in spark-defaults.conf in "
            "SPARK_CONF_DIR (spark.jars.packages), see docs/scale.md"
        ) from None


@cache
def hadoop_configuration() -> Any:
    """As Spark makes it: spark-defaults.conf with its `spark.hadoop.…`, and HADOOP_CONF_DIR."""
    jvm = hadoop_java().jvm
    spark = jvm.org.apache.spark
    configuration = spark.deploy.SparkHadoopUtil.get().newConfiguration(spark.SparkConf())
    for name, value in _IMPATIENT.items():
        configuration.set(name, value)
    return configuration


@cache
def hadoop_java() -> Any:
    """Java with all that Spark has on its class path, but no Spark context."""
    launch: Any = launch_gateway
    try:
        with environment_of_spark(), output_to(Path(os.devnull)):
            settings = {"spark.driver.memory": _MEMORY, "spark.driver.extraJavaOptions": light_options()}
            return launch(conf=SparkConf(loadDefaults=False).setAll(list(settings.items())))
    except Exception as error:  # whatever Spark's launcher comes up with
        raise BadInput(f"Spark's file systems cannot be used: {first_line(error)}") from error


def ask(method: Any, *arguments: Any, deadline_s: float = DEADLINE_S) -> Any:
    """Java's answer; OSError with its first line when it has none, or none in time."""
    try:
        caller = _idle_callers.pop()
    except IndexError:
        caller = _Caller()
    try:
        answer = caller.ask(lambda: _call(method, arguments), deadline_s)
    except Py4JJavaError as error:
        _idle_callers.append(caller)
        raise _java_error(error) from None
    except Py4JError as error:
        raise OSError(f"Java has ended: {first_line(error)}") from error
    _idle_callers.append(caller)
    return answer


def _call(method: Any, arguments: tuple[Any, ...]) -> Any:
    """As py4j itself calls a method: PySpark changes that to ask about exceptions, but asks its own Java."""
    given, _ = method._build_args(*arguments)
    command = f"{CALL_COMMAND_NAME}{method.command_header}{given}{END_COMMAND_PART}"
    answer = method.gateway_client.send_command(command)
    return get_return_value(answer, method.gateway_client, method.target_id, method.name)


class _Caller:
    """A thread that waits for Java, so that nobody has to for ever; py4j keeps one connection a thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="hadoop-files", daemon=True).start()

    def ask(self, call: Callable[[], Any], deadline_s: float) -> Any:
        """Whoever got no answer in time must not use it again: the answer may still come."""
        self._calls.put(call)
        try:
            answer, error = self._answers.get(timeout=deadline_s)
        except queue.Empty:
            raise OSError(f"no answer within {deadline_s:g} s") from None
        if error is not None:
            raise error
        return answer

    def _run(self) -> None:
        while True:
            call = self._calls.get()
            try:
                self._answers.put((call(), None))
            except Exception as error:  # raised in the thread that asked
                self._answers.put((None, error))


_idle_callers: list[_Caller] = []


def _java_error(error: Py4JJavaError) -> OSError:
    thrown = error.java_exception
    words = str(thrown.getMessage() or thrown.toString()).strip().splitlines()[0]
    if thrown.getClass().getName() == "java.io.FileNotFoundException":
        return FileNotFoundError(words)
    return OSError(words)
