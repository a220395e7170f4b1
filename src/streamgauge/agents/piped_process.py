"""A Python process of ours that is led through a pair of pipes: a line in, lines out, JSON each."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from streamgauge.agents.forked_process import ForkedProcess
from streamgauge.agents.malloc import WITH_TUNED_MALLOC

_END_DEADLINE_S = 10.0


class PipedProcess:
    """Say things to it, hear its answers. The end of its input tells it to end."""

    def __init__(self, module: str, name: str, log: Path | None) -> None:
        """`name` is for people; `log` takes what it prints beside its answers."""
        self.name = name
        self.is_alive = True
        """Until it has ended, or was seen to break."""
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        stream: Any = None
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            stream = log.open("ab")
        self._process = self._start(module, stream)
        if stream is not None:
            stream.close()
        threading.Thread(target=self._listen, name=f"answers of {name}", daemon=True).start()

    def _start(self, module: str, stderr: IO[bytes] | None) -> subprocess.Popen[str] | ForkedProcess:
        return subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**WITH_TUNED_MALLOC, **os.environ},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended; the thread that listens says so
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def answer(self, timeout_s: float) -> dict[str, Any] | None:
        """The next answer, None when none came in time; {"died": how} when there will be no more."""
        try:
            return self._answers.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            return None

    def end_input(self) -> None:
        """Given up: it keeps what it has, and ends."""
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
        self.end_input()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._answers.put(json.loads(line))
        code = self._process.wait()
        self.is_alive = False
        self._answers.put({"died": f"{self.name} died: {_how(code)}"})


def _how(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}; see its log in the run folder"
