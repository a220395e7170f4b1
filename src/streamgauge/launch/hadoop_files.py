"""Run folders on whatever Spark has a file system for: `hdfs://`, and what a jar adds.

Python has no client of its own for them that needs no native library. So a Java process is started with
Spark's own class path and settings, and is asked for whole files: they come and go as temporary files of this
host. It ends with this process. Agents have no part in it (launch/agents_folder).
"""

from __future__ import annotations

import io
import os
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyarrow import fs
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from streamgauge.core.errors import BadInput
from streamgauge.core.run_files import RunFiles
from streamgauge.launch.spark_session import environment_of_spark, first_line, output_to

_START_DEADLINE_S = 60.0
_DEADLINE_S = 60.0
_FILE_DEADLINE_S = 600.0
_MEMORY = "512m"
_IMPATIENT = {
    # By default a name node that is not there is asked for a quarter of an hour.
    "ipc.client.connect.timeout": "5000",
    "ipc.client.connect.max.retries": "3",
    "ipc.client.connect.max.retries.on.timeouts": "3",
    "dfs.client.failover.max.attempts": "3",
    "dfs.client.retry.policy.enabled": "false",
}

_Answer = TypeVar("_Answer")


def open_hadoop_files(location: str) -> tuple[fs.FileSystem, str]:
    """The file system behind a URL, and the root in it; BadInput when there is none."""
    parts = urlsplit(location)
    return fs.PyFileSystem(HadoopFiles(f"{parts.scheme}://{parts.netloc}/")), parts.path or "/"


def check_spark_has(location: str) -> None:
    """BadInput when Spark has no file system for a URL; else the analysis would find out, at the end."""
    scheme = urlsplit(location).scheme if "://" in location else "file"
    if scheme != "file":
        _file_system_class(scheme)


class HadoopFiles(RunFiles):
    """One of Hadoop's file systems, as pyarrow takes it."""

    def __init__(self, root: str) -> None:
        _file_system_class(urlsplit(root).scheme)
        java = _java()
        self._path = java.jvm.org.apache.hadoop.fs.Path
        try:
            self._hadoop: Any = _within(
                _DEADLINE_S,
                lambda: java.jvm.org.apache.hadoop.fs.FileSystem.get(
                    java.jvm.java.net.URI(root), _configuration()
                ),
            )
        except OSError as error:
            raise BadInput(f"{root}: {error}") from error
        self._temporary = tempfile.TemporaryDirectory(prefix="streamgauge-files-", ignore_cleanup_errors=True)
        self._files = 0

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        try:
            return self._list(selector.base_dir, selector.recursive)
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise

    def create_dir(self, path: str, recursive: bool) -> None:
        if not self._ask(lambda: self._hadoop.mkdirs(self._path(path))):
            raise OSError(f"{path}: the folder cannot be made")

    def delete_dir(self, path: str) -> None:
        self._ask(lambda: self._hadoop.delete(self._path(path), True))

    def delete_file(self, path: str) -> None:
        self._ask(lambda: self._hadoop.delete(self._path(path), False))

    def move(self, src: str, dest: str) -> None:
        """Hadoop does not put a file in another's place."""
        old, new = self._path(src), self._path(dest)
        if self._ask(lambda: self._hadoop.rename(old, new)):
            return
        self._ask(lambda: self._hadoop.delete(new, False))
        if not self._ask(lambda: self._hadoop.rename(old, new)):
            raise OSError(f"{src}: cannot be moved to {dest}")

    def open_input_stream(self, path: str) -> pa.NativeFile:
        return self.open_input_file(path)

    def open_input_file(self, path: str) -> pa.NativeFile:
        here = self._new_file()
        local = self._path(here.as_uri())
        self._ask(
            lambda: self._hadoop.copyToLocalFile(False, self._path(path), local, True), _FILE_DEADLINE_S
        )
        stream = pa.OSFile(str(here))
        here.unlink()  # it lasts as long as it is open
        return stream

    def open_output_stream(self, path: str, metadata: Any = None) -> pa.NativeFile:
        here = self._new_file()
        return pa.PythonFile(_Upload(here, lambda: self._send(here, path)), mode="w")

    def _send(self, here: Path, path: str) -> None:
        local = self._path(here.as_uri())
        try:
            self._ask(
                lambda: self._hadoop.copyFromLocalFile(False, True, local, self._path(path)), _FILE_DEADLINE_S
            )
        finally:
            here.unlink(missing_ok=True)

    def _list(self, folder: str, recursive: bool) -> list[fs.FileInfo]:
        infos = []
        for status in self._ask(lambda: self._hadoop.listStatus(self._path(folder))):
            info = _file_info(status)
            infos.append(info)
            if recursive and info.type == fs.FileType.Directory:
                infos += self._list(info.path, recursive)
        return infos

    def _info(self, path: str) -> fs.FileInfo:
        try:
            return _file_info(self._ask(lambda: self._hadoop.getFileStatus(self._path(path))))
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)

    def _new_file(self) -> Path:
        self._files += 1
        return Path(self._temporary.name, str(self._files))

    def _ask(self, call: Callable[[], _Answer], deadline_s: float = _DEADLINE_S) -> _Answer:
        return _within(deadline_s, call)


class _Upload(io.FileIO):
    """A file of this host that goes to its place when it is closed."""

    def __init__(self, path: Path, send: Callable[[], None]) -> None:
        super().__init__(path, "wb")
        self._send = send

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._send()


def _file_info(status: Any) -> fs.FileInfo:
    kind = fs.FileType.Directory if status.isDirectory() else fs.FileType.File
    return fs.FileInfo(status.getPath().toUri().getPath(), kind, size=int(status.getLen()))


@cache
def _file_system_class(scheme: str) -> None:
    java = _java()
    find = java.jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass
    try:
        _within(_DEADLINE_S, lambda: find(scheme, _configuration()))
    except OSError as error:
        raise BadInput(
            f"{scheme}://: Spark has no file system for it ({error}); name its jar in spark-defaults.conf in "
            "SPARK_CONF_DIR (spark.jars.packages), see docs/scale.md"
        ) from None


@cache
def _configuration() -> Any:
    """As Spark makes it: spark-defaults.conf with its `spark.hadoop.…`, and HADOOP_CONF_DIR."""
    jvm = _java().jvm
    spark = jvm.org.apache.spark
    configuration = spark.deploy.SparkHadoopUtil.get().newConfiguration(spark.SparkConf())
    for name, value in _IMPATIENT.items():
        configuration.set(name, value)
    return configuration


@cache
def _java() -> Any:
    """Java with all that Spark has on its class path, but no Spark context."""
    conf = SparkConf(loadDefaults=False).set("spark.driver.memory", _MEMORY)

    def start() -> Any:
        with environment_of_spark(), output_to(Path(os.devnull)):
            launch: Any = launch_gateway
            return launch(conf=conf)

    try:
        return _within(_START_DEADLINE_S, start)
    except Exception as error:  # whatever Spark's launcher comes up with
        raise BadInput(f"Spark's file systems cannot be used: {first_line(error)}") from error


def _within(deadline_s: float, call: Callable[[], _Answer]) -> _Answer:
    """Java's answer; OSError with its first line when it has none, or none in time."""
    answers: list[_Answer] = []
    failures: list[Exception] = []

    def ask() -> None:
        try:
            answers.append(call())
        except Exception as error:  # raised in the thread that waits
            failures.append(error)

    asking = threading.Thread(target=ask, name="hadoop-files", daemon=True)
    asking.start()
    asking.join(deadline_s)
    if answers:
        return answers[0]
    if not failures:
        raise OSError(f"no answer within {deadline_s:g} s")
    error = failures[0]
    if isinstance(error, Py4JJavaError):
        raise _java_error(error) from None
    if isinstance(error, Py4JError):
        raise OSError(f"Java has ended: {first_line(error)}") from error
    raise error


def _java_error(error: Py4JJavaError) -> OSError:
    thrown = error.java_exception
    words = str(thrown.getMessage() or thrown.toString()).strip().splitlines()[0]
    if thrown.getClass().getName() == "java.io.FileNotFoundException":
        return FileNotFoundError(words)
    return OSError(words)
