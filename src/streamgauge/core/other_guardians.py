"""Guardians of commands that have ended, and what is to be waited for."""

from __future__ import annotations

import os
import time

import psutil

from streamgauge.core.guardian import MARK_VARIABLE

_SEEN_TO_S = 45.0
"""Longer than a guardian takes: for the grace, for those that have to be killed, and for promises."""
_LOOK_S = 0.1


def has_guardian(mark: str) -> bool:
    """One that is still at it."""
    return any(mark in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))


def wait_until_seen_to(mark: str, deadline_s: float = _SEEN_TO_S) -> bool:
    """For who takes up what a killed command, which bore the mark, had begun on this host: its guardian may
    be about to undo it, and must not undo ours. False: it has not ended in time."""
    deadline = time.monotonic() + deadline_s
    while mark != os.environ.get(MARK_VARIABLE) and has_guardian(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)
    return True
