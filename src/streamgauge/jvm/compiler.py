"""The project's few Java classes, compiled once on the machine that runs them.

With the JDK's own compiler where there is a JDK, else with Eclipse's, which is a jar and needs no more
than a runtime. Classes lie in the cache under a hash of all that went into them, so nothing is compiled
twice, and another version of the sources is another folder.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.folders import cache_folder
from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import OLDEST_USABLE, Java, find_java, run_program

_DEADLINE_S = 120.0


class CompileFailed(StreamgaugeError):
    """A Java source of the project could not be compiled."""


def compiled(sources: Path, jars: Sequence[Path]) -> Path:
    """The folder with the classes of all `*.java` files below `sources`, which need `jars`."""
    files = sorted(sources.rglob("*.java"))
    if not files:
        raise CompileFailed(f"{sources}: no Java sources; is the package installed whole?")
    classes = cache_folder() / "classes" / _digest(sources, files, jars)
    if not classes.is_dir():
        try:
            _compile(files, jars, classes)
        except OSError as error:
            raise CompileFailed(f"{classes}: cannot be made: {error}; set STREAMGAUGE_CACHE") from error
    return classes


def _digest(sources: Path, files: list[Path], jars: Sequence[Path]) -> str:
    """Over names and contents of the sources, and the names of the jars, with their versions in them."""
    digest = hashlib.sha256(f"release {OLDEST_USABLE}".encode())
    for file in files:
        content = file.read_bytes()
        digest.update(f"\n{file.relative_to(sources).as_posix()} {len(content)}\n".encode() + content)
    digest.update("\n".join(sorted(jar.name for jar in jars)).encode())
    return digest.hexdigest()[:16]


def _compile(files: list[Path], jars: Sequence[Path], classes: Path) -> None:
    """Beside the final place, then renamed: a folder under its final name is whole."""
    unfinished = classes.with_name(f".{classes.name}.{os.getpid()}-{secrets.token_hex(4)}")
    unfinished.mkdir(parents=True)
    try:
        command = _compiler(find_java())
        options = ["-nowarn", "-proc:none", "-encoding", "UTF-8", "-cp", classpath(jars) or "."]
        _run([*command, *options, "-d", str(unfinished), *map(str, files)])
        try:
            unfinished.rename(classes)
        except OSError:
            # Another process was faster, and made the same.
            if not classes.is_dir():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _compiler(java: Java) -> list[str]:
    javac = java.home / "bin" / ("javac.exe" if os.name == "nt" else "javac")
    if javac.exists():
        return [str(javac), "--release", str(OLDEST_USABLE)]
    [eclipse] = fetch("compiler")
    # Not `--release`: that takes a file which runtimes lack.
    return [str(java.executable), "-jar", str(eclipse), f"-{OLDEST_USABLE}"]


def _run(command: list[str]) -> None:
    try:
        ran = run_program(command, _DEADLINE_S)
    except subprocess.TimeoutExpired:
        raise CompileFailed(f"{command[0]} was not done compiling after {_DEADLINE_S:g} s") from None
    if ran.returncode != 0:
        said = [line.strip() for line in (ran.stderr + ran.stdout).splitlines() if "rror" in line]
        raise CompileFailed(f"{command[0]} cannot compile: {said[0] if said else f'exit {ran.returncode}'}")
