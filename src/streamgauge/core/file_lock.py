"""One process at a time: a lock on a file, waited for within a deadline, and gone with whoever held it."""

from __future__ import annotations

import fcntl
import time
from typing import IO

_POLL_S = 0.1


def locked_within(file: IO[str], deadline_s: float) -> bool:
    """Whether the lock was had in time; it is held until the file is closed. OSError: here are no locks."""
    until_s = time.monotonic() + deadline_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until_s:
                return False
            time.sleep(_POLL_S)
        else:
            return True
