"""Aeron's C media driver, `aeronmd`: where it lies, and what it calls what the Java one has other names for.

No package of a distribution has it: it is built from Aeron's sources. Where one is, it may be used.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from streamgauge.core.errors import SystemFailed

_ASK_S = 10.0
_VERSION = re.compile(r"version=(\S+)")
_IDLE = ".idle.strategy"
_NAMES = {
    "org.agrona.concurrent.NoOpIdleStrategy": "noop",
    "org.agrona.concurrent.BusySpinIdleStrategy": "spin",
    "org.agrona.concurrent.YieldingIdleStrategy": "yield",
    "org.agrona.concurrent.BackoffIdleStrategy": "backoff",
    "org.agrona.concurrent.SleepingIdleStrategy": "sleep-ns",
}
"""Class of Java → name in C."""
_SHORT_NAPS = "streamgauge.media.ShortNaps"
_AS_SHORT_NAPS = "10-20-1us-100us"
"""Of `backoff`: spins, yields, shortest and longest nap, as jvm/media_driver/ShortNaps.java has them."""
_OF_JAVA_ALONE = ("agrona.",)


def found_executable(wanted: str) -> Path:
    """On the PATH, or where it is said to lie."""
    found = shutil.which(wanted)
    if found is None:
        raise SystemFailed(
            f"system.executable: there is no {wanted} to start, on the PATH or as a file; build it from "
            "Aeron's sources (cmake --build . --target aeronmd), or leave it out for the Java media driver"
        )
    return Path(found)


def version_of(executable: Path) -> str | None:
    """By its own account; None: it does not say."""
    try:
        done = subprocess.run([executable, "-v"], capture_output=True, text=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    told = _VERSION.search(done.stdout + done.stderr)
    return told.group(1) if told else None


def in_its_words(properties: Mapping[str, str]) -> dict[str, str]:
    """The same for the C driver: idle strategies by its names; what only Java has is left out."""
    found: dict[str, str] = {}
    for name, value in properties.items():
        if name.startswith(_OF_JAVA_ALONE):
            continue
        if name.endswith(_IDLE) and value == _SHORT_NAPS:
            found |= {name: "backoff", f"{name}.init.args": _AS_SHORT_NAPS}
        elif name.endswith(_IDLE):
            found[name] = _NAMES.get(value, value)
        else:
            found[name] = value
    return found
