"""Precedence of the thread that sends by a schedule, where the system grants it.

Not by default. On a host that the broker shares, whoever may always go first takes from what is measured; on
one of its own it costs nobody anything. So it is asked for, and what came of it is said either way.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from streamgauge.spec.load import Precedence

_ISOLATED = Path("/sys/devices/system/cpu/isolated")
_PRIORITY = 1
"""Above every ordinary thread, below whatever else is in real time."""
_NOT_PERMITTED = "ordinary: this user may not (CAP_SYS_NICE, or `ulimit -r` of 1 and more)"
_NO_SUCH_SYSTEM = "ordinary: this system has no such call"
_NO_CORE = "any: the kernel sets no core aside for it (isolcpus=…), or others have them"


@contextlib.contextmanager
def precedence(asked: Precedence, place: int) -> Iterator[dict[str, str]]:
    """For the calling thread, until the block ends; yields what is in force, as settings are said.

    `place`: the how-manieth of the producers it is; each takes another core.
    """
    with contextlib.ExitStack() as undo:
        if asked == "real_time":
            yield {"thread priority": _go_real_time(undo)}
        elif asked == "own_core":
            yield {"thread core": _take_core(place, undo)}
        else:
            yield {}


def _go_real_time(undo: contextlib.ExitStack) -> str:
    if not hasattr(os, "sched_setscheduler"):
        return _NO_SUCH_SYSTEM
    before, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        # Threads that a client library starts from this one are to be ordinary ones.
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(_PRIORITY))
    except PermissionError:
        return _NOT_PERMITTED
    undo.callback(os.sched_setscheduler, 0, before, parameters)
    return f"real time {_PRIORITY}"


def _take_core(place: int, undo: contextlib.ExitStack) -> str:
    if not hasattr(os, "sched_setaffinity"):
        return _NO_SUCH_SYSTEM
    cores = isolated_cores()
    if place >= len(cores):
        return _NO_CORE
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {cores[place]})
    except OSError:  # a container that was not given that core
        return _NO_CORE
    undo.callback(os.sched_setaffinity, 0, before)
    return str(cores[place])


def isolated_cores() -> list[int]:
    """Those that the kernel gives to nobody who does not ask for them by number."""
    try:
        listed = _ISOLATED.read_text().strip()
    except OSError:
        return []
    cores: list[int] = []
    for part in filter(None, listed.split(",")):
        first, _, last = part.partition("-")
        cores += range(int(first), int(last or first) + 1)
    return cores
