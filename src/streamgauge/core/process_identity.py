"""Which process it was: ids are used again, with the time of their start they are not."""

from __future__ import annotations

import psutil

# Linux counts a process's start from boot, and the time of boot moves when the clock is set.
_STARTED_TOLERANCE_S = 2.0


def own_start_s() -> float:
    return psutil.Process().create_time()


def still_runs(pid: int, started_s: float) -> bool:
    """Whether the process that began then is there, on this host."""
    return same_process(pid, started_s) is not None


def same_process(pid: int, started_s: float) -> psutil.Process | None:
    """The one that began then, if it still runs and may be looked at."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return process if abs(process.create_time() - started_s) < _STARTED_TOLERANCE_S else None
    except psutil.Error:
        return None
