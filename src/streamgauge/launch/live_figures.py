"""What is known of a run while it goes on: sums over all agents, second by second.

Fed by the live query, read by the progress display and the page. What comes late is added to its second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from streamgauge.core.clock import NS_PER_MS
from streamgauge.core.latency_buckets import added
from streamgauge.core.percentiles import percentiles_of
from streamgauge.launch.conduct import conduct_of
from streamgauge.plan.cases import Case

MESSAGES, MISSED = -1, -2
"""In the place of a bucket: the count is of messages, or of latencies that nobody could look at in time."""
_SHARES = (0.50, 0.99, 0.999, 1.0)
_KEPT_SECONDS = 900
_STALE_S = 10.0
"""A batch comes every two seconds."""


@dataclass(frozen=True)
class LiveRow:
    """One row of the query: agents of a kind, one second, one bucket."""

    case: str
    kind: str
    second: int
    bucket_ns: int
    count: int


@dataclass(frozen=True)
class LiveLook:
    sent: int
    received: int
    p99_ms: float | None
    """Of the newest second that is over."""


@dataclass
class _Second:
    sent: int = 0
    received: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
    latency_ms: list[float] | None = None


@dataclass
class _CaseFigures:
    target: str
    planned: int | None
    status: str = "running"
    sent: int = 0
    received: int = 0
    missed: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
    seconds: dict[int, _Second] = field(default_factory=dict)


class LiveFigures:
    """Written by one thread, read by others."""

    def __init__(self, run: str, total_cases: int | None) -> None:
        self._run, self._total_cases = run, total_cases
        self._lock = threading.Lock()
        self._cases: dict[str, _CaseFigures] = {}
        self._added_s = 0.0
        self.cost = ""
        """In words, of the case that ended last."""
        self.ended = ""
        """What there is to say when the run is over."""

    def begin(self, case: Case) -> None:
        conduct = conduct_of(case.kind)
        # A warm-up until at rest is sent, too, and nobody knows yet how long it will be.
        planned = None if conduct.settles(case) else conduct.message_count(case)
        with self._lock:
            self._cases[case.id] = _CaseFigures(case.target.name, planned)

    def end(self, case: Case, status: str) -> None:
        with self._lock:
            self._cases[case.id].status = status

    def add(self, rows: Iterable[LiveRow]) -> None:
        """Rows of cases that nobody has begun are not ours."""
        with self._lock:
            self._added_s = time.monotonic()
            changed: set[tuple[str, int]] = set()
            for row in rows:
                if row.case in self._cases:
                    self._add(self._cases[row.case], row)
                    changed.add((row.case, row.second))
            for case, number in changed:
                second = self._cases[case].seconds[number]
                second.latency_ms = _latency_ms(second.buckets)
            for case in {case for case, _ in changed}:
                seconds = self._cases[case].seconds
                for old in sorted(seconds)[:-_KEPT_SECONDS]:
                    del seconds[old]

    @property
    def messages(self) -> int:
        """Sent and received, of all cases."""
        with self._lock:
            return sum(figures.sent + figures.received for figures in self._cases.values())

    def look(self, case: str) -> LiveLook | None:
        """For one line; None until something has come, and when nothing comes any more."""
        with self._lock:
            figures = self._cases.get(case)
            if figures is None or not figures.seconds or time.monotonic() - self._added_s > _STALE_S:
                return None
            over = [n for n in sorted(figures.seconds)[:-1] if figures.seconds[n].latency_ms]
            latency_ms = figures.seconds[over[-1]].latency_ms if over else None
            return LiveLook(figures.sent, figures.received, latency_ms[1] if latency_ms else None)

    def document(self) -> dict[str, Any]:
        """For the page: all cases in short, the newest one second by second."""
        with self._lock:
            cases = [{"case": case, **_summary(figures)} for case, figures in self._cases.items()]
            newest = next(reversed(self._cases.values()), None)
            unknown: list[float | None] = [None] * len(_SHARES)
            seconds = [
                [number, second.sent, second.received, *(second.latency_ms or unknown)]
                for number, second in sorted(newest.seconds.items() if newest is not None else ())
            ]
        return {
            "run": self._run,
            "total_cases": self._total_cases,
            "cases": cases,
            "seconds": seconds,
            "cost": self.cost,
            "ended": self.ended,
        }

    def _add(self, figures: _CaseFigures, row: LiveRow) -> None:
        second = figures.seconds.setdefault(row.second, _Second())
        if row.bucket_ns == MISSED:
            figures.missed += row.count
        elif row.bucket_ns != MESSAGES:
            added(second.buckets, [(row.bucket_ns, row.count)])
            added(figures.buckets, [(row.bucket_ns, row.count)])
        elif row.kind == "producer":
            figures.sent += row.count
            second.sent += row.count
        else:
            figures.received += row.count
            second.received += row.count


def _summary(figures: _CaseFigures) -> dict[str, Any]:
    return {
        "target": figures.target,
        "status": figures.status,
        "planned": figures.planned,
        "sent": figures.sent,
        "received": figures.received,
        "missed": figures.missed,
        "latency_ms": _latency_ms(figures.buckets),
    }


def _latency_ms(buckets: dict[int, int]) -> list[float] | None:
    """p50, p99, p99.9 and the greatest; None without any."""
    return [ns / NS_PER_MS for ns in percentiles_of(buckets, _SHARES)] if buckets else None
