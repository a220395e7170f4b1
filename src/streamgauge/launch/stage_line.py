"""The stages of a command on stderr: a live line on a terminal, a line each when it is over elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from streamgauge.core.fetching import hears_of_fetching
from streamgauge.core.stages import STAGE_WORDS, Stage, Stages

_WITH_A_BAR = (Stage.STARTING_AGENTS, Stage.WARMING_UP, Stage.MEASURING)
"""A case shows them itself, and a terminal has one live line at a time."""


class StageLine:
    def __init__(self, console: Console, *, is_shown: bool = True, shows_cases: bool = True) -> None:
        """Not `shows_cases`: there are many, and each has a line of its own."""
        self._console, self._is_shown, self._shows_cases = console, is_shown, shows_cases
        self._live: Progress | None = None

    def begin(self, stage: Stage) -> None:
        if self._is_shown and self._console.is_terminal and stage not in _WITH_A_BAR:
            self._live = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._live.add_task(STAGE_WORDS[stage], total=None)
            self._live.start()

    def detail(self, stage: Stage, words: str) -> None:
        """How far it is."""
        if self._live is not None:
            for task in self._live.task_ids:
                self._live.update(task, description=f"{STAGE_WORDS[stage]}: {words}")

    def end(self, stage: Stage, seconds: float) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        is_told = self._is_shown and not self._console.is_terminal
        if is_told and (self._shows_cases or stage not in _WITH_A_BAR):
            self._console.print(f"{STAGE_WORDS[stage]}: {seconds:.1f} s", highlight=False)


@contextmanager
def fetching_shown(stages: Stages, line: StageLine) -> Iterator[None]:
    """What this thread has to fetch is a stage of its own; then the one before goes on."""
    before: Stage | None = None

    def hear(words: str, is_over: bool) -> None:
        nonlocal before
        if stages.current is not Stage.FETCHING:
            before = stages.current
            stages.enter(Stage.FETCHING)
        line.detail(Stage.FETCHING, words)
        if is_over and before is not None:
            stages.enter(before)

    with hears_of_fetching(hear):
        yield
