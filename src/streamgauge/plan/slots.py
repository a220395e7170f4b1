"""Are there enough Spark slots? Every agent of a target keeps one, from its first case to its last."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from streamgauge.core.errors import BadInput
from streamgauge.plan.cases import Case

_LOCAL = re.compile(r"^local(?:\[(?P<slots>\d+|\*)(?:,\s*\d+)?\])?$")


def agents_of(cases: Iterable[Case]) -> list[str]:
    """Every agent that some of the cases have: producers first."""
    tasks = {
        (task.kind != "producer", task.kind, task.number): task.agent
        for case in cases
        for task in case.agents
    }
    return [tasks[place] for place in sorted(tasks)]


def wanted_hosts(cases: Iterable[Case]) -> dict[str, str]:
    """By agent, where it has to be; those that may be anywhere are left out."""
    return {task.agent: task.hostname for case in cases for task in case.agents if task.hostname is not None}


def default_master(slots_needed: int) -> str:
    """Local Spark with a slot for every agent: they mostly wait, so cores are not the measure."""
    return f"local[{slots_needed}]"


def local_slots(master: str) -> int | None:
    """Slots of a local master; None when it is a cluster and only Spark knows."""
    match = _LOCAL.match(master)
    if match is None:
        return None
    slots = match["slots"]
    if slots is None:
        return 1
    return os.cpu_count() or 1 if slots == "*" else int(slots)


def check_slots(needed: int, available: int, master: str) -> None:
    if available < needed:
        raise BadInput(
            f"--master {master}: {needed} agents need {needed} Spark slots at once, it has {available}; "
            f"use fewer producers and consumers, or a master with more slots (local[{needed}])"
        )
