"""Processes whose monotonic clock is shifted on purpose, all they start included (Linux, as root)."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable

_CLONE_NEWTIME = 0x80
_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000


def shifted_by(milliseconds: int) -> Callable[[], None]:
    """For `preexec_fn`: whatever the started process starts lives by a clock shifted by so much."""
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    seconds, nanoseconds = divmod(milliseconds * _NS_PER_MS, _NS_PER_S)
    line = f"monotonic {seconds} {nanoseconds}\n".encode()

    def enter() -> None:
        if unshare(_CLONE_NEWTIME) != 0:
            raise OSError(ctypes.get_errno(), "no time namespace")
        offsets = os.open("/proc/self/timens_offsets", os.O_WRONLY)
        os.write(offsets, line)
        os.close(offsets)

    return enter


def can_shift() -> bool:
    try:
        tried = subprocess.run([sys.executable, "-c", ""], preexec_fn=shifted_by(1), check=False)
    except (OSError, subprocess.SubprocessError, AttributeError):
        return False
    return tried.returncode == 0
