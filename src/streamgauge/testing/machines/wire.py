"""The cables between machines: delay, jitter, loss, bandwidth, and scissors."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.errors import SystemFailed

_ANSWER_DEADLINE_S = 10.0
_END_DEADLINE_S = 10.0
_PPM = 1_000_000


@dataclass(frozen=True)
class Link:
    """What happens to all that a machine sends; what it receives has the other end's."""

    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    loss: float = 0.0
    """the share of frames"""
    bytes_per_s: int = 0
    """0: as much as there is"""

    def words(self) -> str:
        return (
            f"{round(self.delay_ms * 1000)} {round(self.jitter_ms * 1000)} {round(self.loss * _PPM)} "
            f"{self.bytes_per_s}"
        )


@dataclass(frozen=True)
class Carried:
    """Frames that a machine sent, and what became of some."""

    sent: int
    lost: int
    """at random"""
    dropped: int
    """to a cut, or a full queue"""


class Wire:
    """The switch that all machines hang on; it ends with this process."""

    def __init__(self, program: Path, pids: Sequence[int], seed: int) -> None:
        self._process = subprocess.Popen(
            [str(program), str(seed), *(str(pid) for pid in pids)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._answers: queue.Queue[str] = queue.Queue()
        self._reading = threading.Thread(target=self._read, name="wire", daemon=True)
        self._reading.start()
        self._hear("ready")

    def link(self, number: int, link: Link) -> None:
        self._tell(f"link {number} {link.words()}")

    def cut(self, number: int) -> None:
        self._tell(f"cut {number}")

    def heal(self, number: int) -> None:
        self._tell(f"heal {number}")

    def carried(self, number: int) -> Carried:
        self._say(f"count {number}")
        return Carried(*(int(figure) for figure in self._answer().split()))

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self._process.stdin.close()
        try:
            self._process.wait(_END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reading.join(_END_DEADLINE_S)
        self._process.stderr.close()

    def _tell(self, line: str) -> None:
        """It has been done when this returns."""
        self._say(line)
        self._hear("ok")

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _hear(self, expected: str) -> None:
        if (answer := self._answer()) != expected:
            raise SystemFailed(f"the wire between machines: {answer or self._last_words()}")

    def _answer(self) -> str:
        try:
            return self._answers.get(timeout=_ANSWER_DEADLINE_S)
        except queue.Empty:
            raise SystemFailed(
                f"the wire between machines did not answer within {_ANSWER_DEADLINE_S:g} s"
            ) from None

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.read().strip() or "it ended"

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            for line in answers:
                self._answers.put(line.rstrip("\n"))
        self._answers.put("")
