"""The one Java virtual machine inside this process.

There can be one, it cannot be started twice, and what it was started with holds for good. It is
started with the runtime that `find_java` finds. When Python exits, nobody waits for Java's threads, but
those that might still call Python are ended first: without an interpreter they would crash.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import jpype
import jpype.config

from streamgauge.core.errors import StreamgaugeError
from streamgauge.jvm.java import Java, find_java, run_program

DEFAULT_OPTIONS = (
    "-Xmx1g",
    # Signals stay Python's.
    "-Xrs",
    # JPype itself is such native access; newer runtimes warn of it.
    "--enable-native-access=ALL-UNNAMED",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
    # Aeron's; for all, since a process has one Java, whichever driver is first.
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "-Dagrona.disable.bounds.checks=true",
)
_TRY_DEADLINE_S = 30.0


class JvmFailed(StreamgaugeError):
    """Java cannot be started in this process."""


def start(classpath: Sequence[Path], options: Sequence[str] = ()) -> None:
    """Start it, or see that it has been; `options` come behind the default ones, so they win.

    Once it runs, further jars can be added, but options cannot.
    """
    _java.start(classpath, (*DEFAULT_OPTIONS, *options))


def before_exit(close: Callable[[], None]) -> None:
    """Called when Python exits, while Java can still be used: end whatever calls Python from Java."""
    if close not in _java.closers:
        _java.closers.append(close)


def library_in_use() -> str:
    """The path of the Java that runs in this process."""
    return _java.library


class _Java:
    """What the Java of this process was started with."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._options: tuple[str, ...] | None = None
        self._classpath: set[Path] = set()
        self.library = ""
        self.closers: list[Callable[[], None]] = []

    def start(self, classpath: Sequence[Path], options: tuple[str, ...]) -> None:
        with self._lock:
            if not jpype.isJVMStarted():
                self._start(find_java(), classpath, options)
            elif self._options is not None and options != self._options:
                raise JvmFailed(
                    f"the Java of this process runs with {' '.join(self._options)}, not {' '.join(options)}; "
                    "one process has one Java: use one of its own for each set of options"
                )
            else:
                for path in set(classpath) - self._classpath:
                    jpype.addClassPath(path)
            self._classpath.update(classpath)

    def _start(self, java: Java, classpath: Sequence[Path], options: tuple[str, ...]) -> None:
        library = _library(java)
        _try_out(str(java.executable), options)
        # What Java would do at the end of the process is nothing that we need, and it waits for threads.
        jpype.config.onexit = False
        atexit.register(self._before_exit)
        try:
            jpype.startJVM(*options, jvmpath=library, classpath=list(map(str, classpath)), interrupt=False)
        except (OSError, RuntimeError, ValueError, TypeError) as error:
            raise JvmFailed(f"Java ({library}) cannot be started here: {_first_line(error)}") from None
        self.library, self._options = library, options

    def _before_exit(self) -> None:
        for close in self.closers:
            with suppress(jpype.JException):
                close()
        # JPype's own thread, which tells Python what Java no longer uses.
        jpype.JClass("org.jpype.ref.JPypeReferenceQueue").getInstance().stop()


_java = _Java()


def _library(java: Java) -> str:
    name = {"win32": "bin/server/jvm.dll", "darwin": "lib/server/libjvm.dylib"}.get(
        sys.platform, "lib/server/libjvm.so"
    )
    library = java.home / name
    if not library.exists():
        raise JvmFailed(
            f"{java.home} ({java.found_in}) has no {name}; set STREAMGAUGE_JAVA_HOME to a Java that has it, "
            "or unset it to use the one that comes with the package"
        )
    return str(library)


@lru_cache
def _try_out(executable: str, options: tuple[str, ...]) -> None:
    """A Java that does not like its options ends the process it is in: let that be another one."""
    # A variable that only the `java` command reads, not a Java inside another process.
    environment = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    try:
        ran = run_program([executable, *options, "-version"], _TRY_DEADLINE_S, environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JvmFailed(f"{executable} cannot be started: {_first_line(error)}") from None
    if ran.returncode != 0:
        said = (ran.stderr + ran.stdout).strip().splitlines()
        why = next((line for line in said if not line.startswith("Error occurred during")), "")
        raise JvmFailed(f"{executable} {' '.join(options)}: {why or f'exit code {ran.returncode}'}")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
