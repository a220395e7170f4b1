"""While a case runs: since which slot is its load at rest, so that its messages count from there on?

Agents tell of every slot (agents/warming_up); the rule is core/steady_state's, on the latency, on the CPU
of all agents and on that of the systems we started: all of them have to be at rest. What was found is said to
all agents alike, and again when the load turns out to have changed meanwhile, until a whole measured time has
been at rest or the limit is reached. What would be measured is looked at by the rule for what was measured
(core/plain_change), too: else a warm-up would end with figures that are then refused.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from streamgauge.core.plain_change import Change, plain_change
from streamgauge.core.steady_state import LEAST_SLOTS, SLOT_S, TOLERANCE, Unrest, settled
from streamgauge.launch.levels import Levels, SystemCpu, Values, levels_of, sent_of
from streamgauge.launch.meeting import MEASURE, Call
from streamgauge.plan.warm_up_file import Series, Waiting, WarmUp, WarmUpEnding
from streamgauge.spec.settling import SettlingTerms

_LOOK_S = SLOT_S
_CPU_TOLERANCE = 0.25
"""It tells of what is still on its way where the latency does not yet, such as a Java that compiles. What is
quoted is the latency, which keeps to its own tolerance: the last methods, which a Java compiles beside its
work for many seconds more, are not waited for."""
_LEAST_BUSY_SLOTS = 3 * LEAST_SLOTS
"""Where the machine has no CPU left: there a cold Java, which compiles, keeps a backlog at one level for
seconds."""
_TREND_P = 0.05
"""Of a trend of the few seconds that would be measured. Stricter than for what was measured: the slots of its
last second, of which nobody can be told in time, make many a trend certain."""
_LOOK_SLOTS = 2
"""Agents tell of so many slots at a time."""


@dataclass(frozen=True)
class Look:
    """What was found of the levels up to now."""

    rest: int | None
    """The slot since which all of them are at rest."""
    waiting: Waiting | None = None
    """Else what keeps the load from it."""


class Settling:
    """Of one case; `look` is called over and over while its producers send."""

    def __init__(
        self, terms: SettlingTerms, agents: list[str], pids: Mapping[str, int], call: Call, lead_s: float
    ) -> None:
        """`pids`: processes of the systems under test. `lead_s`: how long agents take to hear a word."""
        self._agents, self._call = agents, call
        self._lead = math.ceil(lead_s / SLOT_S) + 1
        self._measured = None if terms.measured_s is None else math.ceil(terms.measured_s / SLOT_S)
        self._limit = math.ceil(terms.limit_s / SLOT_S)
        self._terms, self._together = terms, terms.slots_together
        self._systems = SystemCpu(pids)
        self._looked_s = 0.0
        self._levels: Levels | None = None
        self._slots = 0
        self._waited: list[Waiting] = []
        self._is_put_off = False
        """What was said last is no slot since which it is at rest, but only later than the one before."""
        self.slot: int | None = None
        self.ending = WarmUpEnding.AT_REST

    def look(self) -> None:
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_S:
            return
        self._looked_s = now_s
        self._systems.look(now_s)
        told = [found[0] for agent in self._agents if (found := self._call.told(agent, "levels")) is not None]
        slots = min(map(len, told)) if len(told) == len(self._agents) else 0
        if slots < 2 * self._together or slots <= self._slots:
            return  # nothing new
        self._slots = slots
        used_s = self._systems.used_s(slots)
        self._levels = levels_of(told, used_s, self._together, by_rate=self._terms.by_rate)
        if self._terms.most_messages is not None and sent_of(told) >= self._terms.most_messages:
            self._limit = min(self._limit, slots)
        seen = look_at(self._levels, self._least_slots())
        if seen.waiting is not None:
            self._wait_for(seen.waiting)
        self.judge(slots, None if seen.rest is None else seen.rest * self._together, self._levels.latency_ms)

    def judge(self, now: int, rest: int | None, latency_ms: Values | None = None) -> None:
        """`now`: slots that are over; `rest`: the one since which all is at rest, None if it is not.
        `latency_ms`: of all these slots, or of as many as are looked at as one; None: it is not quoted."""
        if self.ending is WarmUpEnding.LIMIT:
            return
        soonest = now + self._lead - (self._measured or 0)
        """Since when a whole measured time does not end before agents have heard of it."""
        if rest is not None and latency_ms is not None and not self._terms.by_rate:
            rest = self._without_plain_change(now, rest, soonest, latency_ms)
        if self.slot is None:
            if rest is not None:
                self._say(max(rest, soonest))
            elif now >= self._limit:
                self._say(now + self._lead, WarmUpEnding.LIMIT)
            return
        if self._measured is None or self.slot < soonest:
            return  # it ends before a word could reach anybody
        if rest is None:
            if self.slot <= soonest + _LOOK_SLOTS:
                # About to end, and not at rest just now: put off until it is again, whenever that began.
                self._is_put_off = True
                self._begin_again(now)
        elif self._is_put_off or rest > self.slot:
            self._is_put_off = False
            self._begin_again(max(rest, soonest))

    def outcome(self, messages: dict[int, int], slots: Iterable[int]) -> WarmUp | None:
        """How it ended, of how many messages by producer; None while it has not. `slots`: since which each
        producer's messages count by what it had heard when it ended."""
        if self.slot is None:
            return None
        is_heard = all(slot == self.slot for slot in slots)
        return WarmUp(
            ended=self.ending if is_heard else WarmUpEnding.UNHEARD,
            seconds=self.slot * SLOT_S,
            messages=messages,
            levels=None if self._levels is None else self._levels.kept(),
            waited=tuple(self._waited),
        )

    def _without_plain_change(self, now: int, rest: int, soonest: int, latency_ms: Values) -> int | None:
        """Since when what would be measured has none that nobody could overlook; None: it is not over yet."""
        together = self._together
        since = max(rest, min(soonest, now - LEAST_SLOTS * together))
        if self.slot is not None and not self._is_put_off:
            since = max(since, self.slot)
        first = since // together
        second = max(1, round(1 / (SLOT_S * together)))
        while (change := self._change_of(latency_ms[first:], second)) is not None:
            unrest = Unrest.TREND if change.second is None else Unrest.STEP
            size = round(change.after_ms / change.before_ms - 1, 3)
            self._wait_for(Waiting(slot=len(latency_ms), series=Series.LATENCY, unrest=unrest, change=size))
            first = len(latency_ms) if change.second is None else first + change.second * second
            if len(latency_ms) - first < LEAST_SLOTS:
                return None
            rest = first * together
        return rest

    def _change_of(self, latency_ms: Values, second: int) -> Change | None:
        """As it will be looked at when it has been measured: of a few seconds, by their slots, too."""
        is_short = self._measured is not None and self._measured * SLOT_S < LEAST_SLOTS
        slots_ms = latency_ms if is_short else None
        return plain_change(_seconds(latency_ms, second), slots_ms, most_chance=_TREND_P)

    def _wait_for(self, waiting: Waiting) -> None:
        if not (self._waited and self._waited[-1].is_same(waiting)):
            self._waited.append(waiting)

    def _least_slots(self) -> int:
        """For how many rest has to last."""
        # What goes as fast as it can leaves none; a Java that compiles shows in its rate.
        if self._terms.by_rate or self._systems.is_left(LEAST_SLOTS):
            return LEAST_SLOTS
        return max(LEAST_SLOTS, _LEAST_BUSY_SLOTS // self._together)

    def _begin_again(self, slot: int) -> None:
        if slot <= self._limit:
            self._say(slot)
        else:
            self.ending = WarmUpEnding.LIMIT  # what is being measured now is measured to its end

    def _say(self, slot: int, ending: WarmUpEnding = WarmUpEnding.AT_REST) -> None:
        self.slot, self.ending = slot, ending
        self._call.say(MEASURE, {"slot": slot})


def _seconds(latency_ms: Values, slots: int) -> Values:
    """Medians of so many slots each."""
    whole = len(latency_ms) // slots * slots
    seconds: Values = np.median(latency_ms[:whole].reshape(-1, slots), axis=1)
    return seconds


def look_at(levels: Levels, least: int = LEAST_SLOTS) -> Look:
    """Since which slot latency and CPU are at rest, for so many slots at least; else what is waited for."""
    if levels.latency_ms is None and levels.rate_per_s is None:
        return Look(None, Waiting(slot=len(levels.agents_cores), series=Series.LATENCY))
    starts = []
    for series, values in levels:
        is_cpu = series in (Series.AGENTS_CPU, Series.SYSTEMS_CPU)
        found = settled(values, least=least, tolerance=_CPU_TOLERANCE if is_cpu else TOLERANCE)
        if found.start is None:
            why = Waiting(slot=len(values), series=series, unrest=found.unrest, change=round(found.change, 3))
            return Look(None, why)
        starts.append(found.start)
    return Look(max(starts))
