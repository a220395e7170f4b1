"""What is shown while a run goes on: messages, rate and current p99 of a case; cases done and time left."""

from __future__ import annotations

import json
import threading
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import STAGE_WORDS, Stages
from streamgauge.core.status import CaseStatus
from streamgauge.core.units import format_rate
from streamgauge.launch.conduct import conduct_of
from streamgauge.launch.live_figures import LiveFigures
from streamgauge.launch.live_resources import ToldStages
from streamgauge.launch.stage_line import StageLine
from streamgauge.plan.cases import Case

_LOOK_S = 0.5
_COLOURS = {"ok": "green", "partial": "yellow"}


class RunProgress:
    """Follows the cases of a run. With several, each gets a line when it ends."""

    def __init__(
        self, run: RunDir, total_cases: int | None, console: Console, *, is_shown: bool, done: int = 0
    ) -> None:
        """`total_cases`: None when nobody knows yet."""
        self._run, self._console, self._is_shown = run, console, is_shown
        self.total_cases, self.done = total_cases, done
        self._took_s: list[float] = []
        self.stage_line = StageLine(console, is_shown=is_shown, shows_cases=total_cases == 1)
        self.stages = Stages(ToldStages(run, self.stage_line))

    def of(self, case: Case, live: LiveFigures | None = None) -> CaseProgress:
        """A context for one case; say how it ended before you leave it. `live`: where its figures are."""
        return CaseProgress(self, self._run, case, self._console, self._is_shown, live)

    def look_in(self, folder: RunDir) -> None:
        """Where agents write their counts, when that is not the run folder."""
        self._run = folder

    def add(self, case: Case, status: CaseStatus, took_s: float) -> None:
        self.done += 1
        self._took_s.append(took_s)
        if self._is_shown and self.total_cases is not None and self.total_cases > 1:
            colour = _COLOURS.get(status.status, "red")
            left = f"  {left}" if (left := self.time_left()) else ""
            words = ", ".join(filter(None, (case.series, conduct_of(case.kind).words_of(case))))
            about = f"  {words}" if words else ""
            ended = f"[{colour}]{status.status}[/]  {took_s:.1f} s{left}"
            self._console.print(f"case {case.id} of {self.total_cases}{about}  {ended}", highlight=False)
            if status.reason:
                self._console.print(f"  {status.reason}", highlight=False, markup=False)

    def tell(self, line: str) -> None:
        if self._is_shown:
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def name(self, case: Case) -> str:
        return f"case {case.id}" if self.total_cases is None else f"case {case.id} of {self.total_cases}"

    def time_left(self) -> str:
        """By the mean of the cases so far; empty before the first and after the last."""
        left = 0 if self.total_cases is None else self.total_cases - self.done
        if not self._took_s or left <= 0:
            return ""
        # The first case also waited for its agents to come up.
        took_s = self._took_s[1:] or self._took_s
        seconds = left * sum(took_s) / len(took_s)
        if seconds < 90:
            return f"about {seconds:.0f} s left"
        return (
            f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"
        )


class CaseProgress:
    """A bar that follows the agents' live counts; no bar when the output is no terminal."""

    def __init__(
        self,
        whole: RunProgress,
        run: RunDir,
        case: Case,
        console: Console,
        shown: bool,
        live: LiveFigures | None = None,
    ) -> None:
        self._whole, self._run, self._case, self._live = whole, run, case, live
        self._shown = shown and console.is_terminal and (run.is_local or live is not None)
        conduct = conduct_of(case.kind)
        self._watch = conduct.watch(run, case, console) if shown and run.is_local else None
        self._planned, self._settles = conduct.message_count(case), conduct.settles(case)
        self._total = None if self._settles else self._planned
        self._latency_name = "p99" if any(each.kind != "producer" for each in case.agents) else "ack p99"
        self._status: CaseStatus | None = None
        self._begun = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)
        left = whole.time_left()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn(f"{whole.name(case)} [bold]{case.target.name}[/]"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            TextColumn(left),
            console=console,
            transient=True,
        )

    def ended(self, status: CaseStatus) -> None:
        self._status = status

    def __enter__(self) -> Self:
        if self._watch is not None:
            self._watch.start()
        if self._shown:
            self._task = self._bar.add_task("", total=self._total, words="agents connect")
            self._bar.start()
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._watch is not None:
            self._watch.stop()
        if self._shown:
            self._thread.join(5)
            self._bar.stop()
        if self._status is not None:
            self._whole.add(self._case, self._status, time.monotonic() - self._begun)

    def _follow(self) -> None:
        before, before_s = 0, time.monotonic()
        rate = 0.0
        while not self._stop.wait(_LOOK_S):
            if self._follow_words():
                continue
            sent, received, p99_ms = self._look()
            now = time.monotonic()
            if sent != before:
                rate, before, before_s = (sent - before) / (now - before_s), sent, now
            words = f"{self._stage()}  {sent:,} sent  {received:,} received  {format_rate(rate)}"
            if p99_ms is not None:
                words += f"  {self._latency_name} {p99_ms:.2f} ms"
            if sent:
                self._bar.update(self._task, completed=sent, total=self._total, words=words)
            elif stage := self._stage():
                self._bar.update(self._task, words=stage)

    def _stage(self) -> str:
        stages = self._whole.stages
        return f"{STAGE_WORDS[stages.current]} {stages.so_far_s:.0f} s" if stages.current else ""

    def _follow_words(self) -> bool:
        """An agent that leads the others has its own words for how far it is."""
        live = self._read(self._case.agents[0].agent) if self._run.is_local else {}
        if "words" not in live:
            return False
        self._bar.update(self._task, completed=live["completed"], total=live["total"], words=live["words"])
        return True

    def _look(self) -> tuple[int, int, float | None]:
        """From the live view, or from what agents write beside the events."""
        if self._live is not None and (found := self._live.look(self._case.id)) is not None:
            return found.sent, found.received, found.p99_ms
        if not self._run.is_local:
            return 0, 0, None
        sent = received = ahead = 0
        is_known = True
        worst: float | None = None
        for agent in self._case.agents:
            live = self._read(agent.agent)
            if live.get("case") != self._case.id:
                continue  # still of the case before
            if agent.kind == "producer":
                sent += live.get("messages", 0)
                ahead += live.get("warm_up", 0)
                is_known = is_known and "warm_up" in live
            else:
                received += live.get("messages", 0)
            if "p99_ms" in live:
                worst = max(worst or 0.0, live["p99_ms"])
        if self._settles:
            self._total = self._planned + ahead if self._planned is not None and sent and is_known else None
        return sent, received, worst

    def _read(self, agent: str) -> dict[str, Any]:
        path = self._run.local(self._run.live(agent))
        try:
            content: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError):
            return {}
        return content
