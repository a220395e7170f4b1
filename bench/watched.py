"""A process as it is seen from outside, the same for ours and for theirs: CPU time and memory."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import psutil

from streamgauge.core.clock import sharpen_sleep

_EVERY_S = 0.1


class Watch:
    """Looks again and again while the block lasts, from a thread of its own."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look_until_over, daemon=True)

    def look(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._looking.join()

    def _look_until_over(self) -> None:
        while not self._over.wait(_EVERY_S):
            self.look()


class ProcessWatch:
    """Looks at a process until it ends, or until the block does."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._times_s: list[float] = []
        self._cpu_s: list[float] = []
        self.most_bytes = 0
        """Resident memory, at its highest."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def cpu_s_since(self, begin_s: float) -> float:
        """By CLOCK_MONOTONIC; until the last look, so that what is put off to the end is inside."""
        return float(self._cpu_s[-1] - np.interp(begin_s, self._times_s, self._cpu_s))

    def _look(self) -> None:
        while not self._ended.is_set():
            try:
                with self._process.oneshot():
                    used, memory = self._process.cpu_times(), self._process.memory_info()
            except psutil.Error:
                return
            self._times_s.append(time.monotonic())
            self._cpu_s.append(used.user + used.system)
            self.most_bytes = max(self.most_bytes, memory.rss)
            self._ended.wait(_EVERY_S)


class WatchedCommand:
    """A command that has been run: its lines, each with the time at which it came."""

    def __init__(
        self, command: Sequence[str], deadline_s: float, environment: Mapping[str, str] | None = None
    ) -> None:
        """`environment`: beside what this process has."""
        self.lines: list[tuple[float, str]] = []
        # As our agents do; a process has it from who starts it. Else Linux wakes who sleeps up to 50 µs late.
        sharpen_sleep()
        with (
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **(environment or {})},
            ) as process,
            ProcessWatch(process.pid) as self.watch,
        ):
            timer = threading.Timer(deadline_s, process.kill)
            timer.start()
            errors: list[str] = []
            assert process.stdout is not None
            assert process.stderr is not None
            reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
            reader.start()
            for line in process.stdout:
                self.lines.append((time.monotonic(), line.rstrip("\n")))
            code = process.wait()
            reader.join()
            timer.cancel()
        if code != 0:
            said = "".join(errors)[-500:] or "\n".join(line for _, line in self.lines[-5:])
            raise RuntimeError(f"{command[-1]}: ended with {code}: {said.strip()}")
