"""An agent's process that the fork server made: what `subprocess.Popen` is to one that was executed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import IO, Any

from streamgauge.agents.fork_server import ask

_BORN_DEADLINE_S = 60.0
"""The server may have begun to import a moment ago, on a machine that is busy."""
_A_WORD_BYTES = 4096


class ForkedProcess:
    def __init__(self, told: socket.socket, stdin: int, stdout: int) -> None:
        self._told = told
        self._pid: int | None = None
        self.returncode: int | None = None
        self.stdin: IO[str] | None = os.fdopen(stdin, "w")
        self.stdout: IO[str] | None = os.fdopen(stdout)

    @property
    def pid(self) -> int:
        if self._pid is None and self.returncode is None:
            self._hear(_BORN_DEADLINE_S)
        if self._pid is None:
            raise ProcessLookupError("the agents' fork server could not fork this one, or has ended")
        return self._pid

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, as of a Popen."""
        while self.returncode is None:
            self._hear(timeout)
        return self.returncode

    def kill(self) -> None:
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            pid = self.pid
            with suppress(subprocess.TimeoutExpired):
                self.wait(0.0)  # a number whose process has ended may be somebody else's by now
            if self.returncode is None:
                os.kill(pid, signal.SIGKILL)

    def _hear(self, timeout: float | None) -> None:
        self._told.settimeout(timeout)
        try:
            word = self._told.recv(_A_WORD_BYTES)
        except (TimeoutError, BlockingIOError):
            raise subprocess.TimeoutExpired("agent", timeout or 0.0) from None
        except OSError:
            word = b""
        if not word:
            self._end_without_server()
            return
        told: dict[str, Any] = json.loads(word)
        self._pid = told.get("pid", self._pid)
        self.returncode = told.get("exit_code")
        if self.returncode is not None:
            self._told.close()

    def _end_without_server(self) -> None:
        """Nobody would hear any more how it ends."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self.returncode = -signal.SIGKILL
        self._told.close()


def forked_agent(stderr: IO[bytes] | None) -> ForkedProcess | None:
    """None where there is no server to ask: on the hosts of a cluster, or on a system that cannot."""
    reading, ours_in = os.pipe()
    ours_out, writing = os.pipe()
    told = None
    try:
        told = ask(reading, writing, (stderr or sys.stderr).fileno())
    finally:
        for descriptor in (reading, writing) if told is not None else (reading, writing, ours_in, ours_out):
            os.close(descriptor)
    return ForkedProcess(told, ours_in, ours_out) if told is not None else None
