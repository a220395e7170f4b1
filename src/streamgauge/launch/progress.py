"""What is shown while a case runs: messages, rate, current p99."""

from __future__ import annotations

import json
import threading
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from streamgauge.core.run_dir import RunDir
from streamgauge.core.units import format_rate
from streamgauge.plan.cases import Case

_LOOK_S = 0.5


class CaseProgress:
    """A bar that follows the agents' live counts; nothing at all when the output is no terminal."""

    def __init__(self, run: RunDir, case: Case, total_cases: int, console: Console, shown: bool) -> None:
        self._run, self._case = run, case
        self._shown = shown and console.is_terminal and run.is_local
        total = case.load.total_messages
        self._total = None if total is None else total + case.load.warm_up_messages
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn(f"case {case.id} of {total_cases} [bold]{case.target.name}[/]"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )

    def __enter__(self) -> Self:
        if self._shown:
            self._task = self._bar.add_task("", total=self._total, words="agents connect")
            self._bar.start()
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._shown:
            self._thread.join(5)
            self._bar.stop()

    def _follow(self) -> None:
        before, before_s = 0, time.monotonic()
        rate = 0.0
        while not self._stop.wait(_LOOK_S):
            sent, received, p99_ms = self._look()
            now = time.monotonic()
            if sent != before:
                rate, before, before_s = (sent - before) / (now - before_s), sent, now
            words = f"{sent:,} sent  {received:,} received  {format_rate(rate)}"
            if p99_ms is not None:
                words += f"  p99 {p99_ms:.2f} ms"
            if sent:
                self._bar.update(self._task, completed=sent, words=words)

    def _look(self) -> tuple[int, int, float | None]:
        sent = received = 0
        worst: float | None = None
        for agent in self._case.agents:
            live = self._read(agent.agent)
            if agent.kind == "producer":
                sent += live.get("messages", 0)
            else:
                received += live.get("messages", 0)
                if "p99_ms" in live:
                    worst = max(worst or 0.0, live["p99_ms"])
        return sent, received, worst

    def _read(self, agent: str) -> dict[str, Any]:
        path = self._run.local(self._run.live(agent))
        try:
            content: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError):
            return {}
        return content
