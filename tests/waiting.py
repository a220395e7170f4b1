"""Waiting in tests: for something to happen, and not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(condition: Any, deadline_s: float = 90) -> Any:
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


@contextmanager
def beside(act: Callable[[], T], deadline_s: float = 120) -> Iterator[Future[T]]:
    """`act` in a thread while the block goes on; it has to end within this time after the block, and well."""
    with ThreadPoolExecutor(1) as thread:
        acting = thread.submit(act)
        yield acting
        acting.result(deadline_s)
