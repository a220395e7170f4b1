"""Checks of passwords, which are slow on purpose: made beside the event loop, a few at a time."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from streamgauge.gateway.protocol.codes import SessionCode
from streamgauge.gateway.server.contract import NotAuthorized, SlowCheck

LOGGER = logging.getLogger("streamgauge.gateway")
_THREADS = 1
"""The hash is computed outside Python's lock: one core is all that guesses can cost."""

_LOWEST_PRIORITY = 19


class Admission:
    """For all connections of a process. So many may wait; addresses and users have allowances before that,
    so that it takes many of them to fill it."""

    def __init__(self, most_waiting: int) -> None:
        self._most_waiting, self.waiting = most_waiting, 0
        self._threads: ThreadPoolExecutor | None = None

    def ask(self, check: SlowCheck, answered: Callable[[NotAuthorized | None], None]) -> None:
        """`answered` is called later, on the loop: None, let in. Raises NotAuthorized when too many wait."""
        if self.waiting >= self._most_waiting:
            raise NotAuthorized("too many passwords wait to be checked; try again in a moment")
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS, "passwords", _yield_to_all_others)
        self.waiting += 1
        asked = asyncio.get_running_loop().run_in_executor(self._threads, _refusal, check)
        asked.add_done_callback(lambda done: self._answer(done, answered))

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _answer(
        self,
        done: asyncio.Future[NotAuthorized | None],
        answered: Callable[[NotAuthorized | None], None],
    ) -> None:
        self.waiting -= 1
        if not done.cancelled():
            answered(done.result())


def _yield_to_all_others() -> None:
    """In the thread: on Linux each has a priority of its own. Guesses get what time nobody else needs."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)


def _refusal(check: SlowCheck) -> NotAuthorized | None:
    """In a thread."""
    try:
        check()
    except NotAuthorized as refusal:
        # Its traceback would hold the future whose result it is.
        return refusal.with_traceback(None)
    except Exception:
        LOGGER.exception("a check of a password failed")
        return NotAuthorized("something went wrong inside the server", SessionCode.INTERNAL)
    return None
