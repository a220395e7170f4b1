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
    """Processes that belong to a run: they have its folder, or an agent's module, in their command line."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(run) in line or "streamgauge.agents.process" in line:
            found.append(process)
    return found
