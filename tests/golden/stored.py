"""Stored runs: where they are, and how a document of today is held against one of their time."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamgauge.core.run_dir import RunDir

from .renamed import LEFT_OUT, RENAMED, REWORDED, without_claimed_acks, without_rates_since_the_first_ack

FOLDER = Path(__file__).parent
EXPECTED = "expected.json"
RUNS = sorted(file.parent.name for file in FOLDER.glob(f"*/{EXPECTED}"))

_RELATIVE = 1e-9
"""Figures come from whole nanoseconds; only the order in which doubles are added may differ."""
_ABSOLUTE = 1e-12

Place = tuple[str, ...]


def copy_of(name: str, folder: Path) -> RunDir:
    """The run's files where they can be analysed, without anything that was computed from them."""
    copied = folder / name
    shutil.copytree(FOLDER / name, copied, ignore=shutil.ignore_patterns(EXPECTED, "results"))
    return RunDir.open(str(copied))


def expected_of(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / name / EXPECTED).read_text("utf-8"))
    return without_rates_since_the_first_ack(without_claimed_acks(document))


def differences(expected: Any, found: Any) -> list[str]:
    """One line for each value of the expected document that is not, or not the same, in the one found."""
    now = dict(_leaves(found))
    lines = []
    for place, value in _leaves(expected):
        if _listed(place, LEFT_OUT) is not None:
            continue
        at, wanted = _moved(place), _reworded(place, value)
        if at not in now:
            lines.append(f"{'.'.join(at)}: missing, was {wanted!r}")
        elif not _is_same(wanted, now[at]):
            lines.append(f"{'.'.join(at)}: {now[at]!r}, was {wanted!r}")
    return lines


def _leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """An empty list or object is a value too: nothing may turn up in its place."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*place, str(key)))
    elif isinstance(value, list) and value:
        yield (*place, "length"), len(value)
        for number, item in enumerate(value):
            yield from _leaves(item, (*place, str(number)))
    else:
        yield place, value


def _moved(place: Place) -> Place:
    """The longest beginning of the place that is listed decides; what `*` stood for is kept in its order."""
    for end in range(len(place), 0, -1):
        pattern = _listed(place[:end], RENAMED)
        if pattern is not None:
            stars = iter(key for key, part in zip(place, pattern.split("."), strict=False) if part == "*")
            target = [next(stars) if part == "*" else part for part in RENAMED[pattern].split(".")]
            return (*target, *place[end:])
    return place


def _reworded(place: Place, value: Any) -> Any:
    pattern = _listed(place, REWORDED)
    return value if pattern is None else REWORDED[pattern].get(value, value)


def _listed(place: Place, patterns: dict[str, Any]) -> str | None:
    for pattern in patterns:
        parts = pattern.split(".")
        if len(parts) == len(place) and all(
            part in ("*", key) for part, key in zip(parts, place, strict=True)
        ):
            return pattern
    return None


def _is_same(wanted: Any, found: Any) -> bool:
    is_number = type(wanted) in (int, float) and type(found) in (int, float)
    if is_number and float in (type(wanted), type(found)):
        return math.isclose(wanted, found, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return type(wanted) is type(found) and bool(wanted == found)
