"""The Java of Spark's driver: what it is told, and what it leaves behind for the next one.

It runs on the machine that is measured. Where there is little to compute it compiles only as far as pays in a
minute, collects with one thread, and starts from an archive of its classes (see `class_archive`).
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkContext

from streamgauge.core.guardian import before_farewell, temporary_folder
from streamgauge.jvm.class_archive import ClassArchive
from streamgauge.jvm.java import COMPILES_LITTLE, LIGHT, find_java

LAUNCHER_OPTIONS = " ".join((*LIGHT, "-Xshare:auto"))
"""Of the Java that does nothing but put together the command line of the other one."""

_FOR_MUCH = ("-XX:+UseParallelGC",)
_ARCHIVE_DEADLINE_S = 60.0
_leaving: list[Callable[[], None]] = []
"""Keep what a Java leaves that is about to end."""


def spark_archive() -> ClassArchive:
    """Of every Java that has Spark's class path: a driver leaves it, whatever else it is told."""
    while _leaving:  # else the next one would make it once more, and the next
        _leaving.pop()()
    jars = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    return ClassArchive("spark", find_java(), jars, ())


class DriverJava:
    """One process, or the one that a session before has left running."""

    def __init__(self, *, is_light: bool) -> None:
        self._flags = LIGHT if is_light else _FOR_MUCH
        self._archive = spark_archive()
        gateway: Any = SparkContext
        self._is_new = gateway._gateway is None

    def options(self) -> str:
        archived = self._archive.use_or_make() if self._is_new else []
        return _line(*self._flags, _temporary(), *archived)

    def end(self, *, leaves_archive: bool) -> None:
        """End it, if it was to leave its classes behind: it does so at its end, and this is a good moment.

        Not `leaves_archive`: somebody is in a hurry.
        """
        if not self._archive.is_in_the_making:
            return
        context: Any = SparkContext
        process: subprocess.Popen[bytes] = context._gateway.proc
        # The next session starts another one.
        context._gateway = context._jvm = None
        if not leaves_archive:
            process.kill()
        # At the end of its input it ends by itself. That takes a while: the report is written meanwhile.
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        _leaving.append(lambda: self._keep(process))
        before_farewell(lambda: self._keep(process))

    def _keep(self, process: subprocess.Popen[bytes]) -> None:
        """Once; the second time there is nothing to keep."""
        try:
            process.wait(_ARCHIVE_DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        self._archive.keep(process.poll())


def light_options() -> str:
    """For another Java on this host that has Spark's class path, and little to do."""
    return _line(*LIGHT, _temporary(), *spark_archive().use())


def executor_options(*, is_light: bool) -> str:
    """For Java on other hosts, which may have been told by others how to collect: that is said only once. The
    archive is for who has the same Java, jars and cache as this host; others do not miss it."""
    archive = spark_archive()
    # An older Java does not know the options of one with profiles, and would not start.
    return _line(*([COMPILES_LITTLE] if is_light else []), *([] if archive.has_profiles else archive.use()))


def _temporary() -> str:
    """Java does not look at TMPDIR."""
    return f"-Djava.io.tmpdir={temporary_folder()}"


def _line(*options: str) -> str:
    return " ".join(map(_quoted, options))


def _quoted(option: str) -> str:
    """Spark takes the options apart at blanks, but for those in quotes."""
    return f'"{option}"' if " " in option else option
