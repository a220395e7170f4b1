"""Which cases are of the same: by their settings, whatever they are called."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.comparing.document import Changed
from streamgauge.comparing.measured import Measured

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Repeats:
    """Parts with the same settings: rounds of one run, or the same case of several."""

    settings: Settings
    parts: tuple[Measured, ...]


@dataclass(frozen=True)
class Matched:
    settings: dict[str, Any]
    """That tell it from others on its side."""
    base: Repeats
    new: Repeats


@dataclass(frozen=True)
class Matching:
    matched: list[Matched]
    changed: list[Changed]
    """Settings that all cases of a side share, and that are not the same on both."""
    only_base: list[Repeats]
    only_new: list[Repeats]


def matching(base: Iterable[Measured], new: Iterable[Measured]) -> Matching:
    """What differs within a side tells its cases apart; what is the same in all of a side, and another on the
    other, is a difference of settings and no reason not to compare."""
    sides = repeats_of(base), repeats_of(new)
    telling = sorted({name for side in sides for name in telling_settings(side)})
    by_key = [{_key(group.settings, telling): group for group in side} for side in sides]
    matched = [
        Matched({name: group.settings.get(name) for name in telling}, group, by_key[1][key])
        for key, group in by_key[0].items()
        if key in by_key[1]
    ]
    changed: dict[str, Changed] = {}
    for each in matched:
        for found in differing(each.base.settings, each.new.settings):
            changed.setdefault(found.name, found)
    return Matching(
        matched,
        list(changed.values()),
        [group for key, group in by_key[0].items() if key not in by_key[1]],
        [group for key, group in by_key[1].items() if key not in by_key[0]],
    )


def repeats_of(parts: Iterable[Measured]) -> list[Repeats]:
    """In the order in which their settings come first."""
    groups: dict[str, list[Measured]] = {}
    for part in parts:
        groups.setdefault(_key(part.settings, sorted(part.settings)), []).append(part)
    return [Repeats(group[0].settings, tuple(group)) for group in groups.values()]


def differing(base: Settings, new: Settings) -> list[Changed]:
    """By name, of what is not the same."""
    names = dict.fromkeys([*base, *new])
    return [
        Changed(name=name, base=base.get(name), new=new.get(name))
        for name in names
        if base.get(name) != new.get(name)
    ]


def telling_settings(side: Sequence[Repeats]) -> list[str]:
    """Those that are not the same in all of them."""
    names = {name for group in side for name in group.settings}
    return sorted(name for name in names if len({_key(group.settings, [name]) for group in side}) > 1)


def _key(settings: Settings, names: Iterable[str]) -> str:
    return json.dumps([[name, settings.get(name)] for name in names], sort_keys=True, default=str)
