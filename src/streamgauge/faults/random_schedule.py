"""Faults at random that a cluster has to survive, the same ones for the same seed; the fewest that break it.

One broker at a time is away: then a majority of the controllers is there, and with min.insync.replicas 2 of 3
every acknowledged message is on one that is. Links are those of clients alone, and for less long than these
go on trying; a slow disk refuses nothing. So whatever a schedule breaks is a promise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Planned = dict[str, Any]
"""A fault as a workload has it."""

DRAW = 2
"""Counts up when the same seed makes other faults than before."""
_AWAY = ("broker_kill", "broker_pause", "broker_restart")
_LINKS = ("link_delay", "link_cut", "link_reset")
KINDS = (*_AWAY, *_LINKS, "controller_loss", "disk_slow")
_FIRST_S = 5.0
_LASTS_S = (1.0, 15.0)
_APART_S = (8.0, 25.0)
"""From the moment at which one is to be over to the next: a broker that starts again has to catch up."""
_CALM_S = 10.0
"""In the end, in which all has to arrive."""


def random_schedule(
    seed: int, seconds: float, brokers: int = 3, partitions: int = 1, kinds: Sequence[str] = KINDS
) -> list[Planned]:
    """As many as there is time for."""
    random = Random(seed)
    found: list[Planned] = []
    at = _FIRST_S + random.uniform(0, _APART_S[0])
    while True:
        lasts = random.uniform(*_LASTS_S)
        if at + lasts + _CALM_S > seconds:
            return found
        kind = random.choice(kinds)
        times = {"kind": kind, "at": round(at, 3), "for": round(lasts, 3)}
        found.append({**times, **_whom(kind, random, brokers, partitions), **_how(kind, random)})
        at += lasts + random.uniform(*_APART_S)


def _whom(kind: str, random: Random, brokers: int, partitions: int) -> Planned:
    if kind == "controller_loss":
        return {}
    among = ["leader", "leader", "controller", f"broker-{random.randint(1, brokers)}"]
    whom = random.choice([*among, "all"] if kind in _LINKS else among)
    return {"broker": whom} | ({"partition": random.randrange(partitions)} if whom == "leader" else {})


def _how(kind: str, random: Random) -> Planned:
    if kind == "link_delay":
        delay, jitter = random.uniform(0.02, 0.5), random.uniform(0, 0.2)
        return {"delay": round(delay, 3), "jitter": round(jitter, 3), "direction": _direction(random)}
    if kind == "link_cut":
        return {"direction": _direction(random)}
    if kind == "disk_slow":
        return {"delay": round(random.uniform(0.005, 0.1), 3)}
    return {}


def _direction(random: Random) -> str:
    return random.choice(["both", "to_broker", "to_client"])


def smallest(
    schedule: Sequence[Planned], breaks: Callable[[Sequence[Planned]], bool], most_tries: int
) -> list[Planned]:
    """The fewest faults of a schedule that still break what all of them broke, by delta debugging: parts are
    left out as long as it goes on breaking without them. After so many tries, what is left by then."""
    left, parts, tries = list(schedule), 2, 0
    while len(left) > 1 and tries < most_tries:
        size = -(-len(left) // parts)
        for begin in range(0, len(left), size):
            fewer = left[:begin] + left[begin + size :]
            if tries >= most_tries:
                return left
            tries += 1
            if breaks(fewer):
                left, parts = fewer, max(parts - 1, 2)
                break
        else:
            if size == 1:
                return left
            parts = min(len(left), 2 * parts)
    return left
