"""The levels of a load that warms up, slot by slot: its latency, and the CPU of agents and systems.

Agents tell of every slot (agents/warming_up); the systems that we started are looked at from here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import psutil
from numpy.typing import NDArray

from streamgauge.core.steady_state import MACHINE_BUSY_SHARE, SLOT_S
from streamgauge.plan.warm_up_file import Series, WarmUpLevels

_LEAST_TOLD = 0.5
"""Of all slots, with a message in them: of fewer nothing can be said."""

Values = NDArray[np.float64]
Told = list[list[list[float | None]]]
"""By agent and slot: messages received, their median latency in ns, CPU seconds used so far."""


@dataclass(frozen=True)
class Levels:
    latency_ms: Values | None
    """None: too few slots had a message."""
    agents_cores: Values
    systems_cores: Values | None
    """None: there is no process of ours."""
    slot_s: float = SLOT_S
    rate_per_s: Values | None = None
    """Of a load that goes as fast as it can, and is at rest by that; else None."""

    def __iter__(self) -> Iterator[tuple[Series, Values]]:
        """Those that have to be at rest, as they are judged.

        CPU counts beside a core that is always busy: who uses 2% of one instead of 1% is no other.
        """
        if self.rate_per_s is not None:
            yield Series.RATE, self.rate_per_s
        elif self.latency_ms is not None:
            yield Series.LATENCY, self.latency_ms
        yield Series.AGENTS_CPU, 1 + self.agents_cores
        if self.systems_cores is not None:
            yield Series.SYSTEMS_CPU, 1 + self.systems_cores

    def kept(self) -> WarmUpLevels:
        """As they are written down."""
        return WarmUpLevels(
            slot_s=self.slot_s,
            latency_ms=_rounded(self.latency_ms),
            rate_per_s=_rounded(self.rate_per_s),
            agents_cores=_rounded(self.agents_cores),
            systems_cores=_rounded(self.systems_cores),
        )


def levels_of(told: Told, systems: Values | None, together: int = 1, *, by_rate: bool = False) -> Levels:
    """`systems`: CPU seconds that they had used at the end of each slot. `together`: slots that are one."""
    slots = min(map(len, told)) // together * together
    agents = [agent[:slots] for agent in told]
    cpu_s = np.array([[row[2] for row in agent] for agent in agents], float).sum(axis=0)
    slot_s, ends = SLOT_S * together, slice(together - 1, slots, together)
    rows = np.array([[[row[0] or 0, row[1] or np.nan] for row in agent] for agent in agents], float)
    counts, latencies_ns = rows[:, :, 0], rows[:, :, 1]
    return Levels(
        _latency(counts, latencies_ns, together),
        _cores(cpu_s[ends], slot_s),
        None if systems is None else _cores(systems[ends], slot_s),
        slot_s,
        _rate(counts, latencies_ns, together) / slot_s if by_rate else None,
    )


def sent_of(told: Told) -> int:
    """Messages that producers have sent; they tell of no latency."""
    return sum(int(row[0] or 0) for agent in told for row in agent if row[1] is None)


def _rate(counts: Values, latencies_ns: Values, together: int) -> Values:
    """Messages received in each slot; where nobody receives, those sent. One at least: a level has a
    logarithm."""
    is_received = ~np.isnan(latencies_ns)
    counted = np.where(is_received if is_received.any() else ~is_received, counts, 0)
    return np.maximum(_summed(counted, together), 1.0)


def _latency(counts: Values, latencies_ns: Values, together: int) -> Values | None:
    """Of each slot over all consumers, weighted by their messages."""
    # Below zero are clocks that are wrong: there is no level in that.
    positive_ns = np.where(latencies_ns > 0, latencies_ns, np.nan)
    received, logs = np.where(np.isnan(positive_ns), 0, counts), np.log(positive_ns / 1e6)
    totals = _summed(received, together)
    has_some = totals > 0
    if has_some.mean() < _LEAST_TOLD:
        return None
    means = _summed(received * np.nan_to_num(logs), together)[has_some] / totals[has_some]
    slots = np.arange(len(totals))
    levels: Values = np.exp(np.interp(slots, slots[has_some], means))
    return levels


def _summed(values: Values, together: int) -> Values:
    """Over all agents, and over the slots that are one."""
    total: Values = values.sum(axis=0).reshape(-1, together).sum(axis=1)
    return total


def _cores(cpu_s: Values, slot_s: float) -> Values:
    """Kept busy in each slot; before the first one nobody looked, so it is taken to be like the second."""
    used = np.diff(cpu_s)
    cores: Values = np.concatenate([used[:1], used]) / slot_s
    return cores


class SystemCpu:
    """CPU of the systems under test and of this machine, looked at by the launcher."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._clocks = [_cpu_clock(pid) for pid in pids.values()]
        self._seen: list[tuple[float, float]] = []
        self._idle_s: list[float] = []

    def look(self, now_s: float) -> None:
        used = 0.0
        for clock in self._clocks:
            with suppress(OSError):  # a process that has ended uses no more
                used += time.clock_gettime(clock)
        self._seen.append((now_s, used))
        times = psutil.cpu_times()
        self._idle_s.append(times.idle + getattr(times, "iowait", 0.0))

    def is_left(self, slots: int) -> bool:
        """Whether this machine had any to spare during the last slots."""
        looks = [(at_s, idle) for (at_s, _), idle in zip(self._seen, self._idle_s, strict=True)]
        looks = [look for look in looks if look[0] >= looks[-1][0] - slots * SLOT_S]
        if len(looks) < 2:
            return True
        (first_s, first_idle), (last_s, last_idle) = looks[0], looks[-1]
        cores = psutil.cpu_count() or 1
        return last_idle - first_idle > (1 - MACHINE_BUSY_SHARE) * cores * (last_s - first_s)

    def used_s(self, slots: int) -> Values | None:
        """At the end of each slot, the last of which is now; None where there is no process of ours."""
        if not self._clocks or len(self._seen) < 2:
            return None
        at_s, used = np.array(self._seen).T
        ends_s = at_s[-1] - SLOT_S * np.arange(slots - 1, -1, -1)
        found: Values = np.interp(ends_s, at_s, used)
        return found


def _cpu_clock(pid: int) -> int:
    """Linux's name of a process's CPU clock (see clock_getcpuclockid(3)), which tells ns; /proc has
    hundredths of a second only, a twenty-fifth of a slot."""
    return (~pid << 3) | 2


def _rounded(values: Values | None) -> list[float] | None:
    return None if values is None else [float(f"{value:.4g}") for value in values]
