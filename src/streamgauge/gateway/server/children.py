"""The processes that serve on one port: started, watched, started again when one dies, ended."""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from streamgauge.core.errors import StreamgaugeError, SystemFailed
from streamgauge.core.parent_death import die_with_parent

LOGGER = logging.getLogger("streamgauge.gateway")
_READY = b"+"
_STOP_DEADLINE_S = 10.0

Run = Callable[[int, Callable[[], object]], None]
"""Given the number of the process, and what to call when clients can come; returns when it is told to end."""


class Deaths:
    """What follows when a process dies: it is started again, later each time; or it is enough."""

    def __init__(self, most: int = 5, window_s: float = 60.0, first_delay_s: float = 0.2) -> None:
        self.most, self.window_s, self._first_delay_s = most, window_s, first_delay_s
        self._at_s: deque[float] = deque()

    def one_more(self, now_s: float) -> float | None:
        """Seconds until it is started again; None: too many have died of late."""
        self._at_s.append(now_s)
        while self._at_s[0] <= now_s - self.window_s:
            self._at_s.popleft()
        count = len(self._at_s)
        return None if count >= self.most else self._first_delay_s * 2.0 ** (count - 1)


@dataclass
class _Child:
    number: int
    pid: int
    pipe: int
    """On which it says that it is ready, and whose end is its end."""
    is_ready: bool = False


class Children:
    """`restarted` is called after each one that was started again."""

    def __init__(
        self, count: int, run: Run, *, restarted: Callable[[], None], deaths: Deaths | None = None
    ) -> None:
        self._count, self._run, self._restarted = count, run, restarted
        self._deaths = deaths or Deaths()
        self._running: dict[int, _Child] = {}
        """By pipe."""
        self._due_s: dict[int, float] = {}
        """When a process that has died is started again, by number."""
        # It is read by the children and never written to: it ends with this process, however that ends.
        self._life_reading, self._life_writing = os.pipe()

    def start(self) -> None:
        for number in range(self._count):
            self._fork(number)

    def watch(self, ready: Callable[[], None]) -> None:
        """Until a signal to end; `ready` is called once, when all can be reached. Raises SystemFailed."""
        wake_reading, wake_writing = os.pipe()
        os.set_blocking(wake_writing, False)
        old_wakeup = signal.set_wakeup_fd(wake_writing)
        old = {sent: signal.signal(sent, lambda *_: None) for sent in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._watch(wake_reading, ready)
        finally:
            for sent, handler in old.items():
                signal.signal(sent, handler)
            signal.set_wakeup_fd(old_wakeup)
            os.close(wake_reading)
            os.close(wake_writing)

    def end(self) -> None:
        """SIGTERM to all, SIGKILL to those that are still there after the deadline."""
        for child in self._running.values():
            os.kill(child.pid, signal.SIGTERM)
        until_s = time.monotonic() + _STOP_DEADLINE_S
        for child in self._running.values():
            if not _has_ended(child.pipe, until_s):
                os.kill(child.pid, signal.SIGKILL)
            os.close(child.pipe)
            os.waitpid(child.pid, 0)
        self._running.clear()
        os.close(self._life_reading)
        os.close(self._life_writing)

    def _watch(self, wake: int, ready: Callable[[], None]) -> None:
        is_up = False
        while True:
            wait_s = max(0.0, min(self._due_s.values()) - time.monotonic()) if self._due_s else None
            readable, _, _ = select.select([wake, *self._running], [], [], wait_s)
            if wake in readable:
                return
            for pipe in readable:
                if os.read(pipe, 1) == _READY:
                    self._running[pipe].is_ready = True
                else:
                    self._died(self._running.pop(pipe), is_up=is_up)
            if not is_up and all(child.is_ready for child in self._running.values()):
                is_up = True
                ready()
            for number in [number for number, due_s in self._due_s.items() if due_s <= time.monotonic()]:
                del self._due_s[number]
                self._restarted()
                self._fork(number)

    def _died(self, child: _Child, *, is_up: bool) -> None:
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        what = f"process {child.number} of the gateway (pid {child.pid}) has ended: {how}"
        if not is_up:
            raise SystemFailed(f"{what}, before all were up; the others are ended too")
        now_s = time.monotonic()
        delay_s = self._deaths.one_more(now_s)
        if delay_s is None:
            raise SystemFailed(
                f"{what}; that was death {self._deaths.most} within {self._deaths.window_s:g} s, so the "
                "gateway ends; the lines above say what each died of"
            )
        LOGGER.warning(
            "%s; it is started again in %.1f s; its sessions are lost and their clients open new ones",
            *(what, delay_s),
        )
        self._due_s[child.number] = now_s + delay_s

    def _fork(self, number: int) -> None:
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        arm = die_with_parent()
        pid = os.fork()
        if pid:
            os.close(writing)
            self._running[reading] = _Child(number, pid, reading)
            return
        try:
            if arm is not None:
                arm()
            signal.set_wakeup_fd(-1)
            for sent in (signal.SIGINT, signal.SIGTERM):
                signal.signal(sent, signal.SIG_DFL)
            for handle in (reading, self._life_writing, *self._running):
                os.close(handle)
            threading.Thread(target=_end_with_parent, args=(self._life_reading,), daemon=True).start()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        _serve_and_exit(self._run, number, writing)


def _serve_and_exit(run: Run, number: int, pipe: int) -> NoReturn:
    """Whatever the parent has left to do is not for this process to do too."""
    code = 1
    try:
        run(number, lambda: os.write(pipe, _READY))
        code = 0
    except StreamgaugeError as error:
        print(f"streamgauge: process {number}: {error}", file=sys.stderr)  # noqa: T201
        code = error.exit_code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_with_parent(life: int) -> None:
    """For systems whose kernel does not see to it; in a thread, so that a busy loop cannot put it off."""
    os.read(life, 1)
    os._exit(1)


def _has_ended(pipe: int, until_s: float) -> bool:
    while select.select([pipe], [], [], max(0.0, until_s - time.monotonic()))[0]:
        if not os.read(pipe, 1):
            return True
    return False
