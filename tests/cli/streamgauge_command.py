"""Running `streamgauge` as a user does: in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import psutil
import pytest

from streamgauge.cli import main
from streamgauge.cli.commands import app
from streamgauge.core import other_schemes

DEADLINE_S = 240

Streamgauge = Callable[..., subprocess.CompletedProcess[str]]
"""What carries out a command line."""


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "streamgauge.cli.main", *map(str, arguments)]


def streamgauge(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    deadline_s: float = DEADLINE_S,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=deadline_s,
        check=False,
    )


def in_process(
    *arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """As `streamgauge`, but here: for what a command says, where it being a process is not the point.

    An exception that the command would end with as a traceback is raised. For a run, which needs Spark, there
    is the fixture `run_here`.
    """
    out, errors = io.StringIO(), io.StringIO()
    given = list(map(str, arguments))
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(sys, "argv", ["streamgauge", *given])
        # Whoever opens other files is asked for by tests of their own.
        patch.setattr(other_schemes, "use_for_other_schemes", lambda _: None)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        stack.enter_context(chdir(cwd or Path.cwd()))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(errors))
        code = main._carry_out(app, debug=False)
    return subprocess.CompletedProcess(["streamgauge", *given], code, out.getvalue(), errors.getvalue())


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
