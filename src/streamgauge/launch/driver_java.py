"""The Java of Spark's driver: what it is told, and what it leaves behind for the next one.

It runs on the machine that is measured. Where there is little to compute it compiles only as far as pays in a
minute, collects with one thread, and starts from an archive of its classes (see `class_archive`).
"""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkContext

from streamgauge.core.guardian import before_farewell, temporary_folder
from streamgauge.jvm.class_archive import ClassArchive
from streamgauge.jvm.java import find_java

# Of the Java that does nothing but put together the command line of the other one.
LAUNCHER_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

LIGHT = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a Java that has little to do, on a machine that others measure on."""
_FOR_MUCH = ("-XX:+UseParallelGC",)
_ARCHIVE_DEADLINE_S = 60.0


class DriverJava:
    """One process, or the one that a session before has left running."""

    def __init__(self, *, is_light: bool) -> None:
        self._flags = LIGHT if is_light else _FOR_MUCH
        jars = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
        self._archive = ClassArchive("spark", find_java(), jars, self._flags)
        gateway: Any = SparkContext
        self._is_new = gateway._gateway is None

    def options(self) -> str:
        archived = self._archive.use_or_make() if self._is_new else []
        return " ".join(map(_quoted, (*self._flags, java_temporary(), *archived)))

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
        before_farewell(lambda: self._keep(process))

    def _keep(self, process: subprocess.Popen[bytes]) -> None:
        try:
            process.wait(_ARCHIVE_DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        self._archive.keep(process.poll())


def java_temporary() -> str:
    """Java does not look at TMPDIR."""
    return f"-Djava.io.tmpdir={temporary_folder()}"


def _quoted(option: str) -> str:
    """Spark takes the options apart at blanks, but for those in quotes."""
    return f'"{option}"' if " " in option else option
