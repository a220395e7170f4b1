"""The locked requirements: a fresh machine installs the same years from now."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCKS = sorted((Path(__file__).parents[1] / "requirements").glob("*.lock"))


def locked(lock: Path) -> dict[str, Requirement]:
    pinned = re.findall(r"^([\w.\-\[\],]+==[^\s;]+)", lock.read_text(), re.MULTILINE)
    return {canonicalize_name(each.name): each for each in map(Requirement, pinned)}


def asked_for(name: str, extras: set[str]) -> list[Requirement]:
    """What a distribution that is installed here needs here."""
    try:
        needed = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    wanted = [Requirement(text) for text in needed]
    return [
        each
        for each in wanted
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in {"", *extras})
    ]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_an_extra_that_something_asks_for_is_pinned_with_it(lock: Path) -> None:
    """pip takes `name[extra]` for a requirement of its own: without a pin it looks at the newest release of
    it there is, and refuses the whole lock on the day that one is not the locked one."""
    pins = locked(lock)
    assert len(pins) > 50
    unpinned = [
        f"{name} asks for {needed}"
        for name, pin in pins.items()
        for needed in asked_for(name, pin.extras)
        if not needed.extras <= pins[canonicalize_name(needed.name)].extras
    ]
    assert unpinned == []
