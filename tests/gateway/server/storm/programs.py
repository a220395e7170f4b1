"""Programs of a storm, each in a process of its own so that none is in another's way: told what to do by
lines, which they answer with lines of JSON."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamgauge.core.parent_death import die_with_parent

TOKEN = "a-token-for-the-storm"
ADAPTER_SET = "TEST"
TICKS, FAT = "ticks", "fat"
"""Items: what honest clients follow, and what is too much for who does not read."""
END_DEADLINE_S = 20.0


class Program:
    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process, self._log, self._unread = process, log, b""
        self.pid = process.pid

    @property
    def log(self) -> str:
        """What it has said to standard error."""
        return self._log.read_text(errors="replace")

    def ask(self, what: str, deadline_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n".encode())
        self._process.stdin.flush()
        return self.answer(deadline_s)

    def end(self, deadline_s: float) -> dict[str, Any]:
        """Tell it to end, and what it says then."""
        self._process.terminate()
        return self.answer(deadline_s)

    def answer(self, deadline_s: float) -> dict[str, Any]:
        """The next line that it says."""
        assert self._process.stdout is not None
        until_s, handle = time.monotonic() + deadline_s, self._process.stdout.fileno()
        while b"\n" not in self._unread:
            readable, _, _ = select.select([handle], [], [], max(0.0, until_s - time.monotonic()))
            data = os.read(handle, 65_536) if readable else b""
            if not data:
                raise AssertionError(f"{self._process.args!r}: no answer in {deadline_s:g} s; {self.log}")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found


@contextmanager
def program(module: str, **given: Any) -> Iterator[Program]:
    command = [sys.executable, "-m", f"tests.gateway.server.storm.{module}", json.dumps(given)]
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            preexec_fn=die_with_parent(),
        )
        with process:
            try:
                yield Program(process, Path(log.name))
            finally:
                process.terminate()
                try:
                    process.wait(END_DEADLINE_S)
                finally:
                    process.kill()


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def obey(commands: dict[str, Callable[[], Awaitable[dict[str, Any]]]]) -> None:
    """Do what the lines on standard input say, one after the other, until it ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        say(**await commands[line.decode().strip()]())
