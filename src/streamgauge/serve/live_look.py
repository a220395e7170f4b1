"""A run in progress, by looks at its folder: what its agents, its systems and its launcher told last.

Every family's agents tell (see `core.live_file`), so every family is seen. A look reads small files and adds
up; whoever looks twice has a rate.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from streamgauge.core.clock import NS_PER_MS, NS_PER_S, now_ns
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.latency_buckets import added
from streamgauge.core.live_file import RESOURCES, STAGE
from streamgauge.core.percentiles import percentiles_of
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import STAGE_WORDS
from streamgauge.core.status import RunStatus, read_status
from streamgauge.launch.conduct import conduct_of
from streamgauge.plan.cases import Case
from streamgauge.plan.fault_file import read_faults
from streamgauge.plan.plan_file import Plan, read_plan

KEPT_ROWS = 900
_SHARES = (0.50, 0.99, 1.0)
_STALE_S = 15.0
"""Who tells nothing for so long does nothing, or is gone."""
_SENDING, _TAKING = "sent", ("received", "done")
_MOST_BYTES = 1 << 20
_MOST_WORDS = 300
_MORE = ("warm_up", "failed", "damaged")


@dataclass
class _Teller:
    """An agent or a process, as it told last and the time before."""

    tick: int = -1
    at_s: float = 0.0
    count: int = 0
    cpu_s: float = 0.0
    rate_per_s: float | None = None
    """None: it has told but once."""
    cores: float = 0.0
    rss_bytes: int = 0
    kind: str = ""
    counts: str = ""
    more: dict[str, int] = field(default_factory=dict)
    """Of its messages: how many do not count yet, failed or came damaged, as far as it tells that."""
    times_are: str = ""
    buckets: dict[int, int] = field(default_factory=dict)

    def hear(self, *, tick: int, at_s: float, count: int, cpu_s: float, rss_bytes: int) -> bool:
        """Whether that is new."""
        if tick == self.tick:
            return False
        took_s = at_s - self.at_s
        if self.tick >= 0 and took_s > 0 and count >= self.count:
            self.rate_per_s = (count - self.count) / took_s
            self.cores = max(0.0, cpu_s - self.cpu_s) / took_s
        self.tick, self.at_s, self.count, self.cpu_s, self.rss_bytes = tick, at_s, count, cpu_s, rss_bytes
        return True


class LiveLook:
    """What is known by now; `look` learns more."""

    def __init__(
        self,
        run: RunDir,
        now_s: Callable[[], float] = time.time,
        steady_ns: Callable[[], int] = now_ns,
    ) -> None:
        """`now_s`: since 1970, as agents tell it; `steady_ns`: the clock that faults are noted by."""
        self._run, self._now_s, self._steady_ns = run, now_s, steady_ns
        self._plan: Plan | None = None
        self._case = ""
        self._agents: dict[str, _Teller] = {}
        self._processes: dict[str, _Teller] = {}
        self.rows: deque[list[float | None]] = deque(maxlen=KEPT_ROWS)
        """Seconds since the run began; sent and received a second; p50, p99 and greatest ms; CPU cores of
        agents, and of systems."""

    def look(self) -> dict[str, Any]:
        """All that changes, and the newest row; raises CorruptRun when there is no run to be seen."""
        status = read_status(self._run)
        case = self._current(status)
        if case is not None and case.id != self._case:
            self._case = case.id
            self._agents.clear()
            self._processes.clear()
        told = self._hear_agents(case) if case is not None else []
        machine_cores = self._hear_processes()
        self._add_row()
        return {
            "run": self._run.id,
            "state": status.status,
            "is_over": status.status != "running",
            "reason": status.reason or "",
            **self._stage(),
            **self._cases(status, case),
            "counts": self._counts(case),
            **self._leading(told),
            "resources": self._resources(),
            "machine_cores": machine_cores,
            "marks": self._marks(),
        }

    def _current(self, status: RunStatus) -> Case | None:
        """The one that runs; between two, the last."""
        begun = [name for name, each in status.cases.items() if not each.is_finished] or [*status.cases]
        if not begun:
            return None
        if self._plan is None or all(case.id != begun[-1] for case in self._plan.cases):
            with suppress(StreamgaugeError):  # a course is writing it anew
                self._plan = read_plan(self._run)
        cases = () if self._plan is None else self._plan.cases
        return next((case for case in cases if case.id == begun[-1]), None)

    def _hear_agents(self, case: Case) -> list[dict[str, Any]]:
        heard = []
        for task in case.agents:
            told = self._read(task.agent)
            if not isinstance(told, dict) or told.get("case") != case.id:
                continue  # nothing yet, or still of the case before
            heard.append(told)
            teller = self._agents.setdefault(task.agent, _Teller())
            teller.kind, teller.counts = task.kind, str(told.get("counts", ""))
            with suppress(KeyError, TypeError, ValueError):
                is_new = teller.hear(
                    tick=int(told["tick"]),
                    at_s=float(told["at_s"]),
                    count=int(told["messages"]),
                    cpu_s=float(told["cpu_s"]),
                    rss_bytes=int(told["rss_bytes"]),
                )
                if is_new:
                    teller.more = {name: int(told[name]) for name in _MORE if name in told}
                    teller.times_are = str(told.get("times_are", ""))[:_MOST_WORDS]
                    teller.buckets = {int(middle): int(count) for middle, count in told["buckets"]}
        return heard

    def _hear_processes(self) -> int | None:
        """Cores of the machine that the launcher is on; None until it has told."""
        told = self._read(RESOURCES)
        if not isinstance(told, dict) or told.get("case") != self._case:
            return None
        with suppress(KeyError, TypeError, ValueError):
            at_s = float(told["at_s"])
            for line in told["processes"]:
                teller = self._processes.setdefault(str(line["source"]), _Teller())
                teller.kind = str(line["kind"])
                teller.hear(
                    tick=round(at_s * 1000),
                    at_s=at_s,
                    count=0,
                    cpu_s=float(line["cpu_s"]),
                    rss_bytes=int(line["rss_bytes"]),
                )
            return int(told["cores"])
        return None

    def _add_row(self) -> None:
        fresh = [teller for teller in self._agents.values() if self._now_s() - teller.at_s < _STALE_S]
        if not fresh:
            return
        buckets: dict[int, int] = {}
        for teller in fresh:
            added(buckets, teller.buckets.items())
        latencies = [ns / NS_PER_MS for ns in percentiles_of(buckets, _SHARES)] if buckets else [None] * 3
        systems = (each for name, each in self._processes.items() if each.kind != "machine")
        begun_s = self._run.begun_s or 0.0
        self.rows.append(
            [
                round(self._now_s() - begun_s, 1),
                _rate_per_s([teller for teller in fresh if teller.counts == _SENDING]),
                _rate_per_s([teller for teller in fresh if teller.counts in _TAKING]),
                *(None if ms is None else round(ms, 4) for ms in latencies),
                round(sum(t.cores for t in fresh), 3),
                round(sum(t.cores for t in systems), 3),
            ]
        )

    def _counts(self, case: Case | None) -> dict[str, int | None]:
        sums: dict[str, int | None] = {
            name: sum(teller.count for teller in self._agents.values() if teller.counts == name)
            for name in (_SENDING, *_TAKING)
        }
        for name in ("failed", "damaged"):
            told = [teller.more[name] for teller in self._agents.values() if name in teller.more]
            sums[name] = sum(told) if told else None
        return {**sums, "planned": None if case is None else self._planned(case)}

    def _planned(self, case: Case) -> int | None:
        """What will be sent, warm-up and all; None while a warm-up goes on of which nobody knows the end."""
        conduct = conduct_of(case.kind)
        planned = conduct.message_count(case)
        if planned is None or not conduct.settles(case):
            return planned
        senders = [teller for teller in self._agents.values() if teller.counts == _SENDING]
        if not senders or any("warm_up" not in teller.more for teller in senders):
            return None
        return planned + sum(teller.more["warm_up"] for teller in senders)

    def _cases(self, status: RunStatus, case: Case | None) -> dict[str, Any]:
        done = sum(each.is_finished for each in status.cases.values())
        plan = self._plan
        words = "" if case is None else conduct_of(case.kind).words_of(case)
        return {
            "case": self._case,
            "target": "" if case is None else ", ".join(target.name for target in case.targets),
            "about": ", ".join(filter(None, (case.series, words))) if case is not None else "",
            "done": done,
            "planned_cases": len(plan.cases) if plan is not None else None,
            "kind": plan.kind if plan is not None else "",
        }

    def _stage(self) -> dict[str, Any]:
        told = self._read(STAGE)
        words = {str(stage): text for stage, text in STAGE_WORDS.items()}
        name = str(told.get("stage", "")) if isinstance(told, dict) else ""
        since_s = told.get("since_s") if isinstance(told, dict) else None
        took_s = round(self._now_s() - since_s) if isinstance(since_s, int | float) else None
        return {"stage": words.get(name, ""), "stage_s": took_s}

    def _resources(self) -> list[dict[str, Any]]:
        tellers = [*self._agents.items(), *self._processes.items()]
        return [
            {"name": name, "kind": each.kind, "cores": round(each.cores, 3), "rss_bytes": each.rss_bytes}
            for name, each in tellers
        ]

    def _marks(self) -> list[list[Any]]:
        """What was done to the run on purpose: when, in its seconds, and what."""
        try:
            faults = [fault for case in read_faults(self._run).values() for fault in case]
        except StreamgaugeError:
            return []
        began_s, steady_ns = self._now_s() - (self._run.begun_s or 0.0), self._steady_ns()
        marks = []
        for fault in faults:
            whom = f"{fault.kind} of {fault.target}" if fault.target else fault.kind
            for at_ns, words in ((fault.began_ns, whom), (fault.ended_ns, f"{whom} is over")):
                at_s = began_s - (steady_ns - at_ns) / NS_PER_S if at_ns is not None else -1.0
                if 0 <= at_s <= began_s:  # else by the clock of another host
                    marks.append([round(at_s, 1), words[:_MOST_WORDS]])
        return marks

    def _leading(self, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """An agent that leads the others has its own words for how far it is."""
        times_are = next((teller.times_are for teller in self._agents.values() if teller.times_are), "")
        for each in told:
            if "words" in each:
                share = each.get("completed", 0) / each["total"] if each.get("total") else None
                return {"words": str(each["words"])[:_MOST_WORDS], "share": share, "times_are": times_are}
        return {"words": "", "share": None, "times_are": times_are}

    def _read(self, name: str) -> Any:
        """None when there is nothing, or nothing that can be read."""
        try:
            path = self._run.local(self._run.live(name))
            if path.stat().st_size > _MOST_BYTES:
                return None
            return json.loads(path.read_bytes())
        except (OSError, ValueError, StreamgaugeError):
            return None


def _rate_per_s(tellers: Sequence[_Teller]) -> float | None:
    """Of all together; None until one of them has told twice."""
    known = [teller.rate_per_s for teller in tellers if teller.rate_per_s is not None]
    return round(sum(known), 1) if known else None
