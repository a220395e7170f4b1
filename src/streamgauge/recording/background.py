"""Writing finished chunks without stopping the hot loop.

At a low rate a chunk is written soon after it is sealed. At a high rate chunks are full when sealed:
these stay in memory as long as there is room, so that writing does not compete with what is measured; past
the limit they are written at once. Of what is only in memory the same thread keeps a journal.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable

HOLD_BYTES = 256 * 1024 * 1024
_CLOSE_DEADLINE_S = 600.0


class BackgroundWriter:
    """A thread that runs `write` for chunks handed to it; the first failure is raised to the caller."""

    def __init__(self, journal: Callable[[], None] = lambda: None, every_s: float = math.inf) -> None:
        """`journal`: called so often, between two chunks."""
        self._journal, self._every_s = journal, every_s
        self._pending: deque[tuple[int, Callable[[], None]]] = deque()
        self._held_bytes = 0
        self._urgent = False
        self._closing = False
        self._failure: Exception | None = None
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="event-writer", daemon=True)
        self._thread.start()

    def put(self, size_bytes: int, write: Callable[[], None], soon: bool) -> None:
        """Hand over a chunk; `soon`: write it now, else when memory runs short or at the end."""
        with self._wake:
            self._raise_failure()
            self._pending.append((size_bytes, write))
            self._held_bytes += size_bytes
            if soon or self._held_bytes > HOLD_BYTES:
                self._urgent = True
                self._wake.notify()
            # Never more than twice the limit: then the producer of chunks has to wait.
            while self._held_bytes > 2 * HOLD_BYTES and self._failure is None:
                self._wake.wait(timeout=1.0)

    def close(self) -> None:
        """Write everything that is left."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(_CLOSE_DEADLINE_S)
        if self._thread.is_alive():
            raise TimeoutError(f"events could not be written within {_CLOSE_DEADLINE_S:g} s")
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        due_s = time.monotonic() + self._every_s
        while True:
            with self._wake:
                while not (self._closing or (self._urgent and self._pending)):
                    left_s = due_s - time.monotonic()
                    if left_s <= 0:
                        break
                    self._wake.wait(min(left_s, threading.TIMEOUT_MAX))
                is_wanted = self._closing or self._urgent
                if self._closing and not self._pending:
                    return
                size_bytes, write = self._pending.popleft() if is_wanted and self._pending else (0, _nothing)
                if not self._pending:
                    self._urgent = False
            try:
                if time.monotonic() >= due_s:
                    self._journal()
                    due_s = time.monotonic() + self._every_s
                write()
            except Exception as error:
                with self._wake:
                    self._failure = error
                    self._wake.notify_all()
                return
            with self._wake:
                self._held_bytes -= size_bytes
                self._wake.notify_all()


def _nothing() -> None: ...
