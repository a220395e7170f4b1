"""Whether a run has a live view: where it would disturb what is measured, it has none unless asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from streamgauge.core.errors import NotInstalled
from streamgauge.drivers.registry import driver_class
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.plan.cases import Case
from streamgauge.plan.slots import local_slots
from streamgauge.spec.families import family_of
from streamgauge.spec.load import Load
from streamgauge.spec.target import Target

_SPARE_CORES = 2
"""For Spark's driver with the query, and for all else on the machine."""
_PLAIN = "PLAINTEXT"


@dataclass(frozen=True)
class LiveChoice:
    """What becomes of the wish."""

    wish: LiveWish
    is_on: bool
    why_not: str = ""

    @property
    def is_refused(self) -> bool:
        """Somebody asked for it, and has to be told why there is none."""
        return self.wish.mode is LiveMode.on and not self.is_on


def choose_live(
    wish: LiveWish, cases: Sequence[Case], slots_needed: int, master: str | None, *, is_watched: bool
) -> LiveChoice:
    """`master`: as given, None when it is ours to choose; `is_watched`: somebody reads what is printed."""
    if wish.mode is LiveMode.off:
        return LiveChoice(wish, False)
    if (why := _nothing_to_show(cases)) or (why := _no_slot(slots_needed, master)):
        return LiveChoice(wish, False, why)
    if wish.mode is LiveMode.on:
        return LiveChoice(wish, True)
    if not is_watched:
        return LiveChoice(wish, False, "nobody watches")
    is_local = master is None or local_slots(master) is not None
    cores, wanted = os.cpu_count() or 1, slots_needed + _own_brokers(cases) + _SPARE_CORES
    if is_local and cores < wanted:
        why = f"it would share {cores} cores with what is measured, which takes {wanted - _SPARE_CORES}"
        return LiveChoice(wish, False, why)
    return LiveChoice(wish, True)


def has_live_figures(case: Case) -> bool:
    """Producers and consumers in real time, which count second by second."""
    is_watchable = family_of(case.kind).has_live_figures and isinstance(case.work, Load)
    return is_watchable and not _is_simulated(case.target)


def _is_simulated(target: Target) -> bool:
    try:
        return driver_class(target).capabilities.simulated_time
    except NotInstalled:
        return False  # its cases are not run, which is said elsewhere


def why_no_broker(target: Target, bootstrap: str | None) -> str:
    """Why a target's own Kafka cannot carry the figures; empty when it can."""
    if bootstrap is None:
        return f"target {target.name} is no Kafka; name one with --live-bootstrap"
    settings = {str(k).replace("_", "."): v for k, v in target.client.items()}
    is_plain = str(settings.get("security.protocol", _PLAIN)).upper() == _PLAIN
    is_locked = target.system is not None and target.system.is_locked
    if is_locked or not is_plain or target.settings.get("security_file"):
        return f"target {target.name} is secured; name a Kafka without with --live-bootstrap"
    return ""


def _nothing_to_show(cases: Sequence[Case]) -> str:
    if not any(map(has_live_figures, cases)):
        return "it shows producers and consumers in real time, and this run has none"
    return ""


def _no_slot(slots_needed: int, master: str | None) -> str:
    slots = None if master is None else local_slots(master)
    if slots is not None and slots <= slots_needed:
        return f"--master {master} has no slot left for it; local[{slots_needed + 1}] would"
    return ""


def _own_brokers(cases: Sequence[Case]) -> int:
    systems = {case.target.name: case.target.system for case in cases}.values()
    return max((system.process_count for system in systems if system is not None), default=0)
