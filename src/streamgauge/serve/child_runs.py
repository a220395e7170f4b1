"""Runs that were started from a page: processes of ours, so many at once, ended as a user would end them.

Each is `streamgauge run FILE` in a session of its own. To stop one is Ctrl-C: it keeps what it has recorded.
If it does not end it is told again, more firmly; and if this server is killed, its guardian ends them.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.run_tags import checked_tags
from streamgauge.serve.requests import Refused

COMMAND = (sys.executable, "-m", "streamgauge.cli.main")
_PATIENCE_S = ((signal.SIGINT, 40.0), (signal.SIGTERM, 20.0), (signal.SIGKILL, 10.0))
_MOST_KEPT = 50
_TAIL_BYTES = 65_536
_HEAD_BYTES = 4_096
_NAME = re.compile(rb"^run (\S+?):?(?: |$)", re.MULTILINE)
_OUTPUT = "output"


@dataclass
class ChildRun:
    number: int
    workload: str
    log: Path
    begun_s: float
    process: asyncio.subprocess.Process
    is_stopping: bool = False
    _run: str = ""
    ended: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def is_running(self) -> bool:
        return self.process.returncode is None

    @property
    def state(self) -> str:
        code = self.process.returncode
        if code is None:
            return "stopping" if self.is_stopping else "running"
        return "stopped" if self.is_stopping else "done" if code == 0 else f"failed (exit code {code})"

    def run_name(self) -> str:
        """The run that it makes, as it said; empty until it has."""
        if not self._run:
            with suppress(OSError), self.log.open("rb") as file:
                if found := _NAME.search(file.read(_HEAD_BYTES)):
                    self._run = found[1].decode("utf-8", "replace")
        return self._run

    def output(self) -> str:
        """What it has printed last."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
                return file.read(_TAIL_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""


class ChildRuns:
    def __init__(self, out: str, folder: Path, most: int = 1, command: Sequence[str] = COMMAND) -> None:
        """`out`: where runs go; `folder`: for workloads and output, until we end."""
        self._out, self._folder, self._most, self._command = out, folder, most, tuple(command)
        self._runs: dict[int, ChildRun] = {}
        self._numbers = 0
        self._starting = asyncio.Lock()
        self._is_closed = False

    def all(self) -> list[ChildRun]:
        """Newest first."""
        return list(reversed(self._runs.values()))

    def find(self, number: str) -> ChildRun | None:
        return self._runs.get(int(number)) if number.isascii() and number.isdecimal() else None

    def of_run(self, name: str) -> ChildRun | None:
        return next((child for child in self.all() if child.run_name() == name), None)

    async def start(self, workload: str, tags: Sequence[str] = ()) -> ChildRun:
        """Raises Refused when there are as many as there may be."""
        words = checked_tags(tags)
        async with self._starting:
            busy = sum(child.is_running for child in self._runs.values())
            if busy >= self._most or self._is_closed:
                raise Refused(
                    HTTPStatus.CONFLICT,
                    f"{busy} of {self._most} runs are in progress: another would disturb what they measure; "
                    "stop one, or wait",
                )
            self._numbers += 1
            child = await self._started(self._numbers, workload, words)
            self._runs[child.number] = child
            self._forget()
        return child

    async def _started(self, number: int, workload: str, tags: Sequence[str]) -> ChildRun:
        own = self._folder / str(number)
        own.mkdir(parents=True, mode=0o700)
        file, log = own / "workload.yaml", own / "output.log"
        file.write_text(workload, "utf-8")
        file.chmod(0o600)
        arguments = [*self._command, "run", str(file), "--out", self._out, "--live", "off"]
        for each in tags:
            arguments += ["--tag", each]
        try:
            with log.open("wb") as output:
                process = await asyncio.create_subprocess_exec(
                    *arguments,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,  # Ctrl-C at our terminal is ours: we tell it
                    env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
                )
        except OSError as error:
            raise StreamgaugeError(f"{arguments[0]}: cannot be started: {error}") from error
        child = ChildRun(number, workload, log, time.time(), process)
        child.ended = asyncio.create_task(self._see_to(child))
        return child

    def stop(self, child: ChildRun) -> None:
        """It ends soon; what it has recorded is kept."""
        if child.is_running and not child.is_stopping:
            child.is_stopping = True
            child.ended = asyncio.create_task(self._end(child, child.ended))

    async def close(self) -> None:
        """End all that run, together."""
        self._is_closed = True
        for child in self._runs.values():
            self.stop(child)
        endings = [child.ended for child in self._runs.values() if child.ended is not None]
        if endings:
            await asyncio.wait(endings, timeout=sum(wait_s for _, wait_s in _PATIENCE_S) + 5)

    def hurry(self) -> None:
        """Somebody asks for the end a second time."""
        for child in self._runs.values():
            if child.is_running:
                _tell(child, signal.SIGTERM)

    async def _see_to(self, child: ChildRun) -> None:
        await child.process.wait()
        await asyncio.to_thread(self._keep_output, child)

    async def _end(self, child: ChildRun, waiting: asyncio.Task[None] | None) -> None:
        for number, wait_s in _PATIENCE_S:
            _tell(child, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await child.process.wait()
                break
        if waiting is not None:
            await asyncio.wait([waiting], timeout=10)

    def _keep_output(self, child: ChildRun) -> None:
        """With the run, where there is one: its log goes where it goes."""
        from streamgauge.core.run_dir import RunDir

        name = child.run_name()
        if not name or "/" in name or name.startswith("."):
            return
        run = RunDir.below(self._out, name)
        with suppress(StreamgaugeError, OSError):
            if run.has(run.plan):
                run.write_text(run.log(_OUTPUT), child.output())

    def _forget(self) -> None:
        for number in [n for n, child in self._runs.items() if not child.is_running][:-_MOST_KEPT]:
            del self._runs[number]


def _tell(child: ChildRun, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        child.process.send_signal(number)
