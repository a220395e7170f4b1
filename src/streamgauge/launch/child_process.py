"""The other end of an agent's pipe, inside a Spark task.

Every agent has a process of its own: Spark reuses its Python processes, and some client libraries
cannot be started twice in one.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.core.errors import AgentDied

_END_DEADLINE_S = 10.0

# Batches of messages come and go by the million: glibc must keep their memory at hand instead of giving
# it back and faulting it in again. Consuming 1 KiB messages is nearly twice as fast for it.
_MALLOC = ":".join(
    f"glibc.malloc.{name}={value}"
    for name, value in {
        "tcache_max": 16 * 1024,
        "tcache_count": 4096,
        "trim_threshold": 512 * 1024**2,
        "mmap_threshold": 64 * 1024**2,
        "top_pad": 16 * 1024**2,
    }.items()
)


class ChildProcess:
    """An agent process: say things to it, wait for its answers."""

    def __init__(self, assignment: Assignment, on_death: Callable[[AgentDied], None]) -> None:
        """`on_death` is called in another thread when the process ends before it is done."""
        self._assignment, self._on_death = assignment, on_death
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._done = False
        run = assignment.run_dir
        name = f"{assignment.case}-{assignment.task.agent}"
        if run.is_local:
            run.write_text(run.log(name), "")
            log: Any = open(run.local(run.log(name)), "ab")  # noqa: SIM115 - the child's to keep
        else:
            log = None
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamgauge.agents.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={"GLIBC_TUNABLES": _MALLOC, **os.environ},
        )
        if log is not None:
            log.close()
        threading.Thread(target=self._listen, name="agent-answers", daemon=True).start()
        self._write(assignment.model_dump_json(by_alias=True))

    def say(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message))

    def wait_for(self, answer: str, deadline_s: float) -> Any:
        """The next answer of this kind; None when the agent gave up before."""
        end = time.monotonic() + deadline_s
        while True:
            try:
                message = self._answers.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AgentDied(
                    f"agent {self._assignment.task.agent} was not {answer} within {deadline_s:g} s"
                ) from None
            if "died" in message:
                raise AgentDied(message["died"])
            if answer in message:
                return message[answer]
            if "done" in message:
                # It gave up early; its manifest, which says why, is kept for who asks for it.
                self._answers.put(message)
                return None

    def close(self) -> None:
        """End of input: the agent keeps what it has, and ends; if it does not, it is ended."""
        self._done = True
        if self._process.stdin:
            with suppress(BrokenPipeError):  # a line it no longer reads may still be in the buffer
                self._process.stdin.close()
        try:
            self._process.wait(_END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_END_DEADLINE_S)

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended; the thread that listens says so
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            self._done = self._done or "done" in message
            self._answers.put(message)
        code = self._process.wait()
        if not self._done:
            died = AgentDied(f"agent {self._assignment.task.agent} died: {_how(code)}")
            self._answers.put({"died": str(died)})
            self._on_death(died)


def _how(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}; see its log in the run folder"


def leave_now() -> None:
    """End this Spark Python process at once, which fails the task and with it the whole barrier stage."""
    os._exit(17)
