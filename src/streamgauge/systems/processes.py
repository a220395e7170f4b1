"""Starting and ending the processes of a system, and reading why one died."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from streamgauge.core.errors import SystemFailed
from streamgauge.core.guardian import with_mark, without_mark

STOP_DEADLINE_S = 10.0
_KILL_DEADLINE_S = 5.0
_TAIL_BYTES = 8192
_TAIL_LINES = 3
_TAIL_LETTERS = 160

_EXCEPTION = re.compile(r"^(?:Caused by: |Exception in thread \S+ )?([\w.$]+(?:Exception|Error): .+)$")
# What the JVM says after every failed start, below the line that tells why.
_BOILERPLATE = ("Error: Could not create the Java Virtual Machine.", "Error: A fatal exception has occurred.")
_ERROR = re.compile(r"\b(?:ERROR|FATAL)\b.*|^Error: .+|^Unrecognized .+|^Could not .+")


def spawn(
    command: Sequence[str],
    log: Path,
    *,
    dies_with_parent: bool,
    pass_fds: Sequence[int] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process that writes to `log`, in a session of its own: Ctrl-C is for us, not for it.

    With `dies_with_parent` our guardian ends it when we have ended, however that was.
    """
    environment = with_mark(environment) if dies_with_parent else without_mark(environment)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=pass_fds,
                env=environment,
            )
        except OSError as error:
            raise SystemFailed(f"{command[0]}: cannot be started: {error}") from error


def end(processes: Iterable[subprocess.Popen[bytes]], deadline_s: float = STOP_DEADLINE_S) -> None:
    """SIGTERM to all, SIGKILL to those that are still there after the deadline."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        process.terminate()
    until = time.monotonic() + deadline_s
    try:
        for process in running:
            _wait(process, until - time.monotonic())
    finally:
        # Also when a second Ctrl-C cuts the waiting short.
        for process in running:
            if process.poll() is None:
                process.kill()
                _wait(process, _KILL_DEADLINE_S)


def why_it_ended(process: subprocess.Popen[bytes], log: Path, said: str = "") -> str:
    """One line: how a process ended, and what explains it; by itself what it `said` last that does."""
    how = _way_out(process.returncode)
    said = said or telling_line(log_text(log))
    return f"{how}: {said}; see {log}" if said else f"{how}; see {log}"


def how_it_ended(process: subprocess.Popen[bytes], log: Path) -> str:
    """One line, of a process that had started well: how it ended, and the last that it said."""
    said = " | ".join(_last_lines(log))
    last = f"; its last words: {said}" if said else ""
    return f"{_way_out(process.returncode)}{last}; see {log}"


def _way_out(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _last_lines(log: Path) -> list[str]:
    try:
        with log.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL_BYTES))
            text = stream.read().decode(errors="replace")
    except OSError:
        return []
    lines = [line.strip() for line in text.splitlines() if line.strip()][-_TAIL_LINES:]
    return [line if len(line) <= _TAIL_LETTERS else f"{line[:_TAIL_LETTERS]}…" for line in lines]


def log_text(log: Path) -> str:
    """A log so far; meant for the start, while it is short."""
    try:
        return log.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def telling_line(text: str) -> str:
    """The last line that names an exception, else an error, else the last line at all."""
    stripped = (line.strip() for line in text.splitlines())
    lines = [line for line in stripped if line and not line.startswith(_BOILERPLATE)]
    for pattern in (_EXCEPTION, _ERROR):
        for line in reversed(lines):
            if match := pattern.search(line):
                return match[match.lastindex or 0]
    return lines[-1] if lines else ""


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, seconds))
