"""The project's few programs and libraries in C, compiled for this machine when they are needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from streamgauge.core.errors import SystemFailed

NO_COMPILER = "there is no C compiler (cc)"
_DEADLINE_S = 120.0


def compiler() -> str | None:
    return shutil.which(os.environ.get("CC", "cc"))


def compile_c(source: Path, made: Path, *more: str) -> None:
    """SystemFailed with what the compiler said. `more`: of its arguments, behind ours."""
    if (found := compiler()) is None:
        raise SystemFailed(f"{source.name}: {NO_COMPILER}")
    command = [found, "-O2", "-Wall", "-Wextra", "-o", str(made), str(source), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"{found} ended with {done.returncode}"]
        said = next((line for line in lines if "error" in line), lines[0])
        raise SystemFailed(f"{source.name}: does not compile: {said}")


def compile_preloaded(source: Path, made: Path) -> None:
    """A library that comes before libc in a process (LD_PRELOAD)."""
    compile_c(source, made, "-shared", "-fPIC", "-ldl")
