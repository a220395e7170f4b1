"""The compiled loops, where they were built; else their twins in Python do the same, only slower.

It takes a C compiler at installation, or a wheel that was built with one.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Literal

try:
    from streamgauge.native import _loops
except ImportError:
    _loops = None  # type: ignore[assignment]

INTERFACE = 6
"""Of the compiled part that belongs to these sources; one of an older build is not used."""

Loop = Literal["native", "python"]
"""Who runs a hot loop: compiled code without the interpreter, or its twin in Python."""


def compiled_loops(*needed: str) -> ModuleType | None:
    """None: there are none that fit. Words are read as they lie in memory, so the order of bytes has to be
    that of the message header. `needed`: functions that not every system has, nor an older build."""
    if getattr(_loops, "INTERFACE", None) != INTERFACE or sys.byteorder != "little":
        return None
    if not all(hasattr(_loops, name) for name in needed):
        return None
    return _loops
