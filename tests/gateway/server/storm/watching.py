"""What is seen of a gateway from outside while it is stormed: its memory, and whether it answers."""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

_EVERY_S = 0.25
_ANSWER_DEADLINE_S = 30.0
_MIB = 2**20


class Watch:
    def __init__(self, port: int, pid: int) -> None:
        self._port, self._process = port, psutil.Process(pid)
        self._is_over = threading.Event()
        self.begin_mib = self.most_mib = self.memory_mib()
        self.slowest_answer_s = 0.0
        self.answers, self.failures = 0, list[str]()

    def __str__(self) -> str:
        return (
            f"{self.begin_mib:.0f} MiB, at most {self.most_mib:.0f} MiB; "
            f"/healthz {self.answers} times, the slowest {self.slowest_answer_s:.3f} s"
        )

    def memory_mib(self) -> float:
        return self._process.memory_info().rss / _MIB

    @property
    def more_mib(self) -> float:
        """How far the memory rose above where it was."""
        return self.most_mib - self.begin_mib

    def run(self) -> None:
        while not self._is_over.wait(_EVERY_S):
            self.most_mib = max(self.most_mib, self.memory_mib())
            begun_s = time.monotonic()
            try:
                if page(self._port, "/healthz") == "ok\n":
                    self.answers += 1
            except OSError as error:
                self.failures.append(repr(error))
            self.slowest_answer_s = max(self.slowest_answer_s, time.monotonic() - begun_s)

    def end(self) -> None:
        self._is_over.set()


def page(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=_ANSWER_DEADLINE_S) as answer:
        text: str = answer.read().decode()
        return text


def metrics(port: int) -> dict[str, float]:
    """By name, labels and all."""
    lines = [line for line in page(port, "/metrics").splitlines() if not line.startswith("#")]
    return {
        name.removeprefix("streamgauge_gateway_"): float(value)
        for name, value in (line.rsplit(" ", 1) for line in lines)
    }


@contextmanager
def watched(port: int, pid: int) -> Iterator[Watch]:
    watch = Watch(port, pid)
    thread = threading.Thread(target=watch.run, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.end()
        thread.join(_ANSWER_DEADLINE_S + 5)
