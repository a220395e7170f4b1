"""The Spark session of a run: on which master, with how many slots, and started once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console

from streamgauge.launch.live_choice import LiveChoice, choose_live
from streamgauge.launch.live_wish import LiveWish
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.slots import check_slots, default_master, local_slots


class OneSession:
    """Spark, started when it is first needed, and once."""

    def __init__(self, stack: ExitStack, start: Callable[[], Any]) -> None:
        self._stack, self._start = stack, start
        self._session: SparkSession | None = None

    def get(self) -> SparkSession:
        if self._session is None:
            session: SparkSession = self._stack.enter_context(self._start())
            self._session = session
        return self._session


def master_and_view(
    plan: Plan, master: str | None, wish: LiveWish, *, console: Console, show_progress: bool, **_: Any
) -> tuple[str, LiveChoice]:
    """The master to use, and whether there is a live view; BadInput when it has too few slots for agents."""
    is_watched = show_progress and console.is_terminal
    choice = choose_live(wish, plan.cases, plan.slots_needed, master, is_watched=is_watched)
    chosen = master or default_master(plan.slots_needed + choice.is_on)
    slots = local_slots(chosen)
    if slots is not None:
        check_slots(plan.slots_needed, slots, chosen)
    return chosen, choice
