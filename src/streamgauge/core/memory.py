"""How much memory processes had at most: a run that is verified has to fit on some machine."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

LAUNCHER, ANALYSING = "launcher", "analysing"
"""Beside agents, by their names: the command itself, and with Spark and its tasks while it analysed."""
_LOOK_S = 0.25
_JOIN_DEADLINE_S = 5.0


def peak_rss_bytes() -> int:
    """Of this process since it began; where the kernel keeps no such count, what it has now."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text().splitlines():
            name, _, size = line.partition(":")
            if name == "VmHWM":
                return int(size.split()[0]) * 1024
    return int(psutil.Process().memory_info().rss)


class TreeWatch:
    """Looks, while it is entered, at what this process and all that came of it have together.

    Pages that they share are counted for each of them: it is never less than what they need.
    """

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(_JOIN_DEADLINE_S)
        self._look()

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_S):
            self._look()

    def _look(self) -> None:
        own, together = psutil.Process(), 0
        for process in [own, *own.children(recursive=True)]:
            with suppress(psutil.Error):  # it has ended meanwhile
                together += process.memory_info().rss
        self.peak_bytes = max(self.peak_bytes, together)
