"""Finding families: by the kind that a workload or a plan names, by the fields of a file that names none."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any

from streamgauge.core.entry_points import load, points_of
from streamgauge.core.errors import BadInput, NotInstalled, StreamgaugeError
from streamgauge.spec.family import Family

GROUP = "streamgauge.families"
"""Of entry points: the name is the kind, the object a class that keeps the `Family` contract."""


def kinds() -> list[str]:
    """Of all families that are installed."""
    return list(_entry_points())


def family_of(kind: str) -> Family[Any]:
    """The family of a kind; only its own module is imported."""
    point = _entry_points().get(kind) if isinstance(kind, str) else None
    if not _entry_points():
        raise NotInstalled("no family is known: streamgauge was installed in part; install it again")
    if point is None:
        raise BadInput(f"there is no family of kind {kind!r}; allowed: {', '.join(kinds())}")
    return _load(point)


def all_families() -> list[Family[Any]]:
    """Those that can be loaded: one that is broken keeps nobody from the others."""
    return [family_of(kind) for kind in kinds() if kind not in broken_families()]


@cache
def broken_families() -> dict[str, str]:
    """Kind → why it cannot be loaded."""
    found = {}
    for kind in kinds():
        try:
            family_of(kind)
        except StreamgaugeError as error:
            found[kind] = str(error)
    return found


def kind_by_fields(fields: Collection[str]) -> str:
    """The kind of a file that names none: the family that one of its fields belongs to, else the default.

    Of several, the one that knows all of the fields.
    """
    families = all_families()
    found = [family for family in families if family.marks.intersection(fields)]
    if len(found) > 1:
        knowing = [f for f in found if set(fields) <= f.workload_model().model_fields.keys()]
        if len(knowing) != 1:
            lines = " or ".join(f"`kind: {family.kind}`" for family in found)
            raise BadInput(f"the fields are those of more than one kind; add the line {lines}")
        found = knowing
    found = found or [family for family in families if family.is_default]
    if not found:
        raise BadInput(f"say which; allowed: {', '.join(kinds())}")
    return found[0].kind


@cache
def _entry_points() -> dict[str, EntryPoint]:
    return points_of(GROUP)


@cache
def _load(point: EntryPoint) -> Family[Any]:
    found = load(point, f"family {point.name}")
    if not (isinstance(found, type) and issubclass(found, Family)):
        raise BadInput(f"family {point.name}: {point.value} is not a streamgauge family")
    if found.kind != point.name:
        raise BadInput(f"family {point.name}: {point.value} says that its kind is {found.kind!r}")
    return found()
