"""`import streamgauge as sg`: run a workload, open a run, set runs side by side (docs/python.md).

Nothing is loaded before it is asked for: `streamgauge --help` comes through here, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamgauge.api.runs import Run, diff, open, run

__all__ = ["Run", "diff", "open", "run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("streamgauge.api.runs"), name)
    raise AttributeError(f"module 'streamgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
