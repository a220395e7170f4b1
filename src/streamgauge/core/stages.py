"""The stages of a command that takes a while: what they are called, and how long each took.

A command is in one stage at a time; what goes on beside it (a broker that comes up while Spark starts) counts
for the stage that is waited for. So the seconds of all stages add up to those of the command.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

LOGGER = logging.getLogger("streamgauge.stages")


class Stage(StrEnum):
    FETCHING = "fetching"
    STARTING_SYSTEM = "starting_system"
    STARTING_SPARK = "starting_spark"
    STARTING_AGENTS = "starting_agents"
    WARMING_UP = "warming_up"
    MEASURING = "measuring"
    ANALYSING = "analysing"
    WRITING = "writing"


STAGE_WORDS = {
    Stage.FETCHING: "fetching what is missing",
    Stage.STARTING_SYSTEM: "starting the system",
    Stage.STARTING_SPARK: "starting Spark",
    Stage.STARTING_AGENTS: "starting agents",
    Stage.WARMING_UP: "warming up",
    Stage.MEASURING: "measuring",
    Stage.ANALYSING: "analysing",
    Stage.WRITING: "writing the report",
}


class StageView(Protocol):
    """Who shows them."""

    def begin(self, stage: Stage) -> None: ...

    def end(self, stage: Stage, seconds: float) -> None: ...


class Stages:
    """Where the time goes."""

    def __init__(self, view: StageView | None = None, now_s: Callable[[], float] = time.monotonic) -> None:
        self._view, self._now_s = view, now_s
        self._seconds: dict[Stage, float] = {}
        self.current: Stage | None = None
        self._before: Stage | None = None
        self._since_s = 0.0

    def enter(self, stage: Stage, ago_s: float = 0.0) -> None:
        """The stage before is over; to enter the one that we are in changes nothing. `ago_s`: since when that
        is so, if it is known only now; not before the stage before began."""
        if stage is not self.current:
            began_s = max(self._since_s, self._now_s() - ago_s) if self.current else self._now_s()
            self._before = self.current
            self.end(began_s)
            self.current, self._since_s = stage, began_s
            LOGGER.debug("%s", STAGE_WORDS[stage])
            if self._view is not None:
                self._view.begin(stage)

    def began_only(self, ago_s: float) -> None:
        """The stage that we are in: what was taken for its beginning until now belongs to the one before."""
        later_s = self.so_far_s - ago_s
        if self._before is not None and later_s > 0:
            self._seconds[self._before] += later_s
            self._since_s += later_s

    def end(self, at_s: float | None = None) -> None:
        """Of the stage that we are in, if we are in any; now, or at this time."""
        ended, self.current = self.current, None
        if ended is not None:
            took_s = (self._now_s() if at_s is None else at_s) - self._since_s
            self._seconds[ended] = self._seconds.get(ended, 0.0) + took_s
            LOGGER.debug("%s took %.3f s", STAGE_WORDS[ended], took_s)
            if self._view is not None:
                self._view.end(ended, took_s)

    @property
    def so_far_s(self) -> float:
        """Of the current stage."""
        return 0.0 if self.current is None else self._now_s() - self._since_s

    def seconds(self) -> dict[str, float]:
        """By stage, in the order of a run; only those that there were, and are over."""
        return {str(stage): round(self._seconds[stage], 3) for stage in Stage if stage in self._seconds}


def seconds_together(*parts: Mapping[str, float]) -> dict[str, float]:
    """Of several processes that shared the work, in the order of a run."""
    found = {str(stage): [part[stage] for part in parts if stage in part] for stage in Stage}
    return {stage: round(sum(took_s), 3) for stage, took_s in found.items() if took_s}


def stages_text(seconds: dict[str, float]) -> str:
    """All of them in one line."""
    return " · ".join(f"{STAGE_WORDS[Stage(stage)]} {took_s:.1f} s" for stage, took_s in seconds.items())
