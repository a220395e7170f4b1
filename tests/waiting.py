"""Waiting in tests: for something to happen, and not for ever."""

from __future__ import annotations

import time
from typing import Any


def wait_for(condition: Any, deadline_s: float = 90) -> Any:
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")
