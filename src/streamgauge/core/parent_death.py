"""Processes that do not outlive the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> Callable[[], None] | None:
    """Made before a fork, called in the child: the kernel kills it when the *thread* that forked ends,
    however it ends. None where there is no such thing (it is Linux's)."""
    if sys.platform != "linux":
        return None
    # Looked up before the fork: between fork and exec only plain calls are safe.
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def arm() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # It died before the call above.
            os._exit(1)

    return arm
