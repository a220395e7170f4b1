"""What others may ship beside us: drivers, systems and families are found by entry points of a group."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from streamgauge.core.errors import NotInstalled


def points_of(group: str) -> dict[str, EntryPoint]:
    """By name, in order; of two that have the same name the first that is found."""
    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        found.setdefault(point.name, point)
    return found


def load(point: EntryPoint, what: str) -> Any:
    """What it names; NotInstalled says what to install where a library is missing."""
    try:
        return point.load()
    except ImportError as error:
        raise NotInstalled(f"{what} cannot be loaded: {error}; {_remedy(point)}") from error


def _remedy(point: EntryPoint) -> str:
    """An entry point names the extra that its client library comes with."""
    package = point.dist.name if point.dist is not None else "streamgauge"
    # Not `point.extras`: Python 3.11 splits names at a hyphen.
    extra = point.value.partition("[")[2].strip(" ]")
    if not extra:
        return f"is {package} installed whole?"
    return f"install what it needs: pip install '{package}[{extra}]'"
