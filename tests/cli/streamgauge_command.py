"""Running `streamgauge` as a user does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil

DEADLINE_S = 240


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "streamgauge.cli.main", *map(str, arguments)]


def streamgauge(
    *arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def one_run(out: Path) -> Path:
    """The only run folder there."""
    [run] = [folder for folder in out.iterdir() if (folder / "plan.json").exists()]
    return run


def agents_and_brokers(run: Path) -> list[psutil.Process]:
    """Processes that belong to a run: its folder is in their command line, or their log is in it."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(run) in line or log_of(process.pid).startswith(str(run.resolve())):
            found.append(process)
    return found


def log_of(pid: int) -> str:
    """Where a process writes its errors to; nothing when it is not ours to know."""
    try:
        return os.readlink(f"/proc/{pid}/fd/2")
    except OSError:
        return ""
