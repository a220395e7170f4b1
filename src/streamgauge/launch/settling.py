"""While a case runs: since which slot is its load at rest, so that its messages count from there on?

Agents tell of every slot (agents/warming_up); the rule is core/steady_state's, on the latency, on the CPU
of all agents and on that of the systems we started: all of them have to be at rest. What was found is said to
all agents alike, and again when the load turns out to have changed meanwhile, until a whole measured time has
been at rest or the limit is reached.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import psutil
from numpy.typing import NDArray

from streamgauge.core.steady_state import LEAST_SLOTS, SLOT_S, settled
from streamgauge.launch.meeting import MEASURE, Call
from streamgauge.plan.warm_up_file import WarmUpEnding
from streamgauge.spec.load import Load

_LOOK_S = SLOT_S
_CPU_TOGETHER = 4
"""Slots: CPU time is told in hundredths of a second."""
_LEAST_TOLD = 0.5
"""Of all slots, with a message in them: of fewer nothing can be said."""

Series = NDArray[np.float64]


class Settling:
    """Of one case; `look` is called over and over while its producers send."""

    def __init__(
        self, load: Load, agents: list[str], pids: Mapping[str, int], call: Call, lead_s: float
    ) -> None:
        """`pids`: processes of the systems under test. `lead_s`: how long agents take to hear a word."""
        self._agents, self._call = agents, call
        self._lead = math.ceil(lead_s / SLOT_S) + 1
        self._measured = measured_slots(load)
        self._limit = math.ceil(load.warm_up_limit / SLOT_S)
        self._systems = _SystemCpu(pids)
        self._looked_s = 0.0
        self.slot: int | None = None
        self.ending = WarmUpEnding.AT_REST

    def look(self) -> None:
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_S:
            return
        self._looked_s = now_s
        self._systems.look(now_s)
        told = [found[0] for agent in self._agents if (found := self._call.told(agent, "levels")) is not None]
        if len(told) == len(self._agents):
            self.judge(min(map(len, told)), rest_since(told, self._systems.levels(min(map(len, told)))))

    def judge(self, now: int, rest: int | None) -> None:
        """`now`: slots that are over; `rest`: the one since which all is at rest, None if it is not."""
        if self.ending is WarmUpEnding.LIMIT:
            return
        soonest = now + self._lead - (self._measured or 0)
        """Since when a whole measured time does not end before agents have heard of it."""
        if self.slot is None:
            if rest is not None:
                self._say(max(rest, soonest))
            elif now >= self._limit:
                self._say(now + self._lead, WarmUpEnding.LIMIT)
            return
        if self._measured is None or self.slot < soonest:
            return  # it ends before a word could reach anybody
        if rest is not None and rest > self.slot:
            self._begin_again(rest)
        elif rest is None and self.slot <= soonest + 2:
            # About to end, and not at rest any more.
            self._begin_again(now)

    def _begin_again(self, slot: int) -> None:
        if slot <= self._limit:
            self._say(slot)
        else:
            self.ending = WarmUpEnding.LIMIT  # what is being measured now is measured to its end

    def _say(self, slot: int, ending: WarmUpEnding = WarmUpEnding.AT_REST) -> None:
        self.slot, self.ending = slot, ending
        self._call.say(MEASURE, {"slot": slot})


def measured_slots(load: Load) -> int | None:
    """How many slots are measured; None when that is not known beforehand."""
    if load.duration is not None:
        return math.ceil(load.duration / SLOT_S)
    if load.total_messages is None or not isinstance(load.rate, float):
        return None
    return math.ceil(load.total_messages / load.rate / SLOT_S)


def rest_since(told: list[list[list[float | None]]], systems: Series | None) -> int | None:
    """The slot since which latency and CPU are at rest, by what each agent told of each slot."""
    slots = min(map(len, told))
    if slots < LEAST_SLOTS:
        return None
    latency = _latency([agent[:slots] for agent in told])
    if latency is None:
        return None
    agents = sum(_cores(np.array([row[2] for row in agent[:slots]], float)) for agent in told)
    starts = []
    for levels in (latency, 1 + np.asarray(agents), systems):
        if levels is None:
            continue
        found = settled(levels)
        if found.start is None:
            return None
        starts.append(found.start)
    return max(starts)


def _latency(told: list[list[list[float | None]]]) -> Series | None:
    """Of each slot over all consumers, weighted by their messages."""
    rows = np.array([[[row[0] or 0, row[1] or np.nan] for row in agent] for agent in told], float)
    counts, logs = np.where(np.isnan(rows[:, :, 1]), 0, rows[:, :, 0]), np.log(rows[:, :, 1])
    totals = counts.sum(axis=0)
    has_some = totals > 0
    if has_some.mean() < _LEAST_TOLD:
        return None
    means = np.nansum(counts * np.nan_to_num(logs), axis=0)[has_some] / totals[has_some]
    slots = np.arange(len(totals))
    levels: Series = np.exp(np.interp(slots, slots[has_some], means))
    return levels


def _cores(cpu_s: Series) -> Series:
    """Cores used in each slot, as a mean over the last ones."""
    used = np.diff(cpu_s)
    padded = np.concatenate([np.full(_CPU_TOGETHER, used[0]), used])
    windows = np.lib.stride_tricks.sliding_window_view(padded, _CPU_TOGETHER)
    cores: Series = windows.mean(axis=1) / SLOT_S
    return cores


class _SystemCpu:
    """CPU of the systems under test, looked at by the launcher."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._processes = []
        for pid in pids.values():
            with suppress(psutil.Error):
                self._processes.append(psutil.Process(pid))
        self._seen: list[tuple[float, float]] = []

    def look(self, now_s: float) -> None:
        used = 0.0
        for process in self._processes:
            with suppress(psutil.Error):
                cpu = process.cpu_times()
                used += cpu.user + cpu.system
        self._seen.append((now_s, used))

    def levels(self, slots: int) -> Series | None:
        """By slot, the last of which is now; None where there is no process of ours."""
        if not self._processes or len(self._seen) < 2:
            return None
        at_s, used = np.array(self._seen).T
        ends_s = at_s[-1] - SLOT_S * np.arange(slots - 1, -1, -1)
        return 1 + _cores(np.interp(ends_s, at_s, used))
