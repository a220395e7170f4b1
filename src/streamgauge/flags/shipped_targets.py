"""Targets of commands where the user gives none: files as a user would write them, beside who wants them.

So no command names a driver or a system in its code: which ones it takes is a choice like any user's, and
stands where theirs would.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def shipped_target(beside: str, name: str) -> dict[str, Any]:
    """Of the folder `shipped` beside a module (its `__file__`), as the content of a workload has it."""
    import yaml  # not for a command that only tells its flags

    content: dict[str, Any] = yaml.safe_load((Path(beside).parent / "shipped" / f"{name}.yaml").read_text())
    return content
