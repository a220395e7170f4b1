"""The statistics of a fan-out while it runs: every minute, of all samples so far."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping

from rich.console import Console

from streamgauge.core.latency_block import latency_block
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.plan.cases import Case, as_work

EVERY_S = 60.0
_LOOK_S = 0.5


class MinuteBlocks:
    """A thread that prints; it begins to count when the first sample is there."""

    def __init__(self, run: RunDir, case: Case, console: Console) -> None:
        self._run, self._case, self._console = run, case, console
        self._begun_s: float | None = None
        self._told = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="minutes", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(5)

    def _follow(self) -> None:
        while not self._stop.wait(_LOOK_S):
            self.look(time.monotonic())

    def look(self, now_s: float) -> None:
        """Print when a further minute is over at `now_s`, by a clock that only goes forward."""
        if self._begun_s is None:
            self._begun_s = now_s if self.counts() else None
        elif now_s - self._begun_s >= (self._told + 1) * EVERY_S:
            self._told += 1
            self._print(now_s - self._begun_s)

    def _print(self, seconds: float) -> None:
        point = as_work(self._case.work, FanoutPoint)
        self._console.print(f"\n{point.series}, {point.clients:,} clients, so far:", highlight=False)
        for line in latency_block(self.counts(), seconds):
            self._console.print(line, highlight=False, markup=False)

    def counts(self) -> Mapping[int, int]:
        """Samples of all swarms by whole ms, as they told last."""
        found: Counter[int] = Counter()
        for agent in self._case.agents:
            if agent.kind != "swarm":
                continue
            try:
                live = json.loads(self._run.local(self._run.live(agent.agent)).read_text())
            except (OSError, ValueError):
                continue
            if live.get("case") == self._case.id:
                found.update({int(ms): count for ms, count in live.get("latency_ms", {}).items()})
        return found
