"""The processes of a system, one by one: killed, paused, started again, while the system as a whole goes on.

Only processes that we started ourselves are ever touched: a member is a child of ours, known by its handle
and not by a number that somebody else may have by now.
"""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from streamgauge.core.errors import SystemFailed, Unreachable
from streamgauge.systems.processes import STOP_DEADLINE_S, end, why_it_ended

_POLL_S = 0.05
_KILL_DEADLINE_S = 5.0
START_AGAIN_DEADLINE_S = 60.0


class Members:
    """`running`: the system's own handles, by name; a member that is started again gets a new one there."""

    def __init__(
        self,
        running: MutableMapping[str, subprocess.Popen[bytes]],
        start: Callable[[str], subprocess.Popen[bytes]],
        is_ready: Callable[[str], bool],
        log_file: Callable[[str], Path],
        data_folders: Callable[[], dict[str, Path]] = dict,
    ) -> None:
        self._running, self._start, self._is_ready, self._log_file = running, start, is_ready, log_file
        self._data_folders = data_folders
        self.down: set[str] = set()
        """Those that are not to run now: that they do not is no failure of the system."""
        self.paused: set[str] = set()
        self.endangered: set[str] = set()
        """Those that may go down by themselves, for what was done to them."""
        self._starting: set[str] = set()
        """Started again, and not ready when somebody last looked."""
        self._lock = threading.RLock()
        self._starts = 0

    @property
    def names(self) -> list[str]:
        return list(self._running)

    @property
    def data_folders(self) -> dict[str, Path]:
        """By name, where each keeps what it has."""
        return self._data_folders()

    @property
    def may_be_gone(self) -> set[str]:
        """Whose end is no failure of the system."""
        return self.down | self.endangered

    def kill(self, name: str) -> None:
        """At once, with nothing written back: as a machine that loses its power."""
        with self._lock:
            self._check_up(name)
            self.down.add(name)
            self.paused.discard(name)
            self._running[name].kill()
            with suppress(subprocess.TimeoutExpired):
                self._running[name].wait(_KILL_DEADLINE_S)

    def stop(self, name: str) -> None:
        """As an operator does it: it says good-bye first."""
        with self._lock:
            self._check_up(name)
            self.down.add(name)
            self._continue(name)
            end([self._running[name]], STOP_DEADLINE_S)

    def pause(self, name: str) -> None:
        """It holds its connections and answers nobody."""
        with self._lock:
            self._check_up(name)
            self.paused.add(name)
            self._running[name].send_signal(signal.SIGSTOP)

    def unpause(self, name: str) -> None:
        with self._lock:
            self._continue(name)

    def endanger(self, name: str) -> None:
        """From now on it may go down by itself; `rescue` ends that."""
        with self._lock:
            self._check_up(name)
            self.endangered.add(name)

    def has_ended(self, name: str) -> bool:
        return self._running[name].poll() is not None

    def rescue(self, name: str) -> None:
        """It is out of danger; if it went down, it is started again."""
        self._end_danger(name)
        self.start_again(name)

    def _end_danger(self, name: str) -> None:
        with self._lock:
            if self.has_ended(name):
                self.down.add(name)
            self.endangered.discard(name)

    def _check_up(self, name: str) -> None:
        if name in self.down:
            raise SystemFailed(f"{name} is down already, by the fault before")

    def _continue(self, name: str) -> None:
        if name in self.paused:
            self.paused.discard(name)
            self._running[name].send_signal(signal.SIGCONT)

    def start_again(self, name: str, deadline_s: float = START_AGAIN_DEADLINE_S) -> None:
        """On its own data and addresses; waits until clients can use it."""
        self._launch(name)
        self._wait_ready(name, deadline_s)

    def _launch(self, name: str) -> None:
        """One that was started again, and was not ready in time, is not started once more."""
        with self._lock:
            is_gone = self.has_ended(name)
            if name not in self.down or (name in self._starting and not is_gone):
                return
            if not is_gone:
                raise SystemFailed(f"{name} cannot be started again: it still runs")
            self._keep_log(name)
            self._running[name] = self._start(name)
            self._starting.add(name)

    def _wait_ready(self, name: str, deadline_s: float) -> None:
        until = time.monotonic() + deadline_s
        while name in self._starting and not self._is_ready(name):
            if self._running[name].poll() is not None:
                why = why_it_ended(self._running[name], self._log_file(name))
                raise SystemFailed(f"{name} ended when it was started again: {why}")
            if time.monotonic() > until:
                raise Unreachable(
                    f"{name} was not ready {deadline_s:g} s after it was started again; "
                    f"see {self._log_file(name)}"
                )
            time.sleep(_POLL_S)
        if name in self._starting:
            self.down.discard(name)
            self._starting.discard(name)

    def restore(self, deadline_s: float = START_AGAIN_DEADLINE_S) -> None:
        """All of them up, as they were in the beginning; one that does not come up keeps no other down."""
        for name in sorted(self.paused):
            self.unpause(name)
        for name in sorted(self.endangered):
            self._end_danger(name)
        down = sorted(self.down)
        # Controllers are ready only when most of them run: all are started before any is waited for.
        try_all(
            [
                *(partial(self._launch, name) for name in down),
                *(partial(self._wait_ready, name, deadline_s) for name in down),
            ]
        )

    def _keep_log(self, name: str) -> None:
        """Its log is begun anew; what the last one said is wanted most of all."""
        log = self._log_file(name)
        self._starts += 1
        with suppress(OSError):
            log.rename(log.with_name(f"{log.stem}-before-{self._starts}{log.suffix}"))


def try_all(steps: Iterable[Callable[[], object]]) -> None:
    """Each of them, whatever becomes of the others; what went wrong is raised then, as one error."""
    failures = list[Exception]()
    for step in steps:
        try:
            step()
        except Exception as error:
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise SystemFailed("; ".join(map(str, failures))) from failures[0]
