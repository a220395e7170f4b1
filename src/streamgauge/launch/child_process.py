"""The other end of an agent's pipe, inside a Spark task.

Every agent has a process of its own: Spark reuses its Python processes, and some client libraries
cannot be started twice in one. The process takes case after case.
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
from contextlib import suppress
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.core.errors import AgentDied
from streamgauge.core.run_dir import RunDir

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
    """An agent process: say things to it, hear its answers."""

    def __init__(self, run: RunDir, agent: str) -> None:
        self._agent = agent
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self.is_alive = True
        """Until it has ended, or was seen to break."""
        log: Any = None
        if run.is_local:
            path = run.local(run.log(agent))
            path.parent.mkdir(parents=True, exist_ok=True)
            log = path.open("ab")
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

    def assign(self, assignment: Assignment) -> None:
        """Begin a case; its answers are `ready`, `finished` (producers) and `done`."""
        self.say({"assignment": json.loads(assignment.model_dump_json(by_alias=True))})

    def say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended; the thread that listens says so
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def answer(self, timeout_s: float) -> dict[str, Any] | None:
        """The next answer; {"died": how} when there will be no more."""
        try:
            return self._answers.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            return None

    def wait_for(self, answer: str, deadline_s: float) -> Any:
        """What comes with the next answer of this kind; AgentDied when the agent ends before."""
        end = time.monotonic() + deadline_s
        while (message := self.answer(end - time.monotonic())) is not None:
            if answer in message:
                return message[answer]
            if "died" in message or "done" in message:
                raise AgentDied(message.get("died") or str(message["done"]["reason"]))
        raise AgentDied(f"agent {self._agent} was not {answer} within {deadline_s:g} s")

    def end_input(self) -> None:
        """Given up: the agent keeps what it has, and ends."""
        if self._process.stdin:
            with suppress(BrokenPipeError):  # a line it no longer reads may still be in the buffer
                self._process.stdin.close()

    def close(self) -> None:
        """End its input and wait for it; if it does not end, it is ended."""
        self.end_input()
        try:
            self._process.wait(_END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(_END_DEADLINE_S)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))
        code = self._process.wait()
        self.is_alive = False
        self._answers.put({"died": f"agent {self._agent} died: {_how(code)}"})


def _how(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}; see its log in the run folder"
