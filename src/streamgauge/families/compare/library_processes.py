"""The libraries of a comparison in their processes: one each, or one for all. Who breaks is begun anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.piped_process import PipedProcess
from streamgauge.core import errors
from streamgauge.core.errors import CaseFailed
from streamgauge.families.compare.planned_comparison import SIDES, PlannedComparison, Side, Turn
from streamgauge.plan.warm_up_file import PartWarmUp

Starts = Mapping[str, Mapping[tuple[int, int], int]]
"""By topic: the offsets where a test begins, by (topic, partition)."""

_MODULE = "streamgauge.families.compare.library_process"
_READY_DEADLINE_S = 90.0
_LOOK_S = 0.2
_MARGIN_S = 60.0
"""For what is not timed: making and closing clients, finding offsets."""


class LibraryProcesses:
    """By side; with a shared process all sides have the same."""

    def __init__(
        self, assignment: Assignment, planned: PlannedComparison, environment: dict[str, str]
    ) -> None:
        self._assignment, self._planned, self._environment = assignment, planned, environment
        shared = planned.comparison.process == "shared"
        self._groups: list[tuple[Side, ...]] = [SIDES] if shared else [(side,) for side in SIDES]
        self._processes: dict[Side, PipedProcess] = {}
        self.warm_ups: list[PartWarmUp] = []
        """In their order; of who was begun anew, all."""

    def start(self) -> None:
        """All at once, and wait until every one has its driver open."""
        for group in self._groups:
            self._launch(group)
        for group in self._groups:
            self._await_ready(group)

    def warm_up(
        self, topics: Mapping[Side, str], starts: Starts, is_given_up: Callable[[], bool] = lambda: False
    ) -> list[dict[str, Any]]:
        """One after the other; returns rows of the table `client_settings`, and none of who did not come to
        its end when the run is given up meanwhile."""
        rows: list[dict[str, Any]] = []
        for group in self._groups:
            rows += self._warm_up(group, topics, starts, is_given_up)
        return rows

    def take_turn(
        self, turn: Turn, starts: Starts, is_given_up: Callable[[], bool]
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Rows of the table `trials`, or why there are none: then its process has to be renewed.

        Neither when the run is given up meanwhile.
        """
        process = self._processes[turn.side]
        process.say({"turn": asdict(turn), "starts": _plain(starts, turn.topics.values())})
        comparison = self._planned.comparison
        deadline_s = 2 * len(comparison.operations) * comparison.test_timeout + _MARGIN_S
        end = time.monotonic() + deadline_s
        while (answer := process.answer(_LOOK_S)) is None:
            if is_given_up():
                return [], None
            if time.monotonic() > end:
                process.kill()
                return [], f"the library's process did not answer within {deadline_s:g} s, and was ended"
        if "died" in answer:
            return [], str(answer["died"])
        if "failed" in answer:
            return [], str(answer["failed"]["reason"])
        return answer["trials"], None

    def renew(
        self, side: Side, topics: Mapping[Side, str], starts: Starts, is_given_up: Callable[[], bool]
    ) -> None:
        """A new process for who had this one, warmed up as the first."""
        group = next(group for group in self._groups if side in group)
        self._processes[side].kill()
        self._launch(group)
        self._await_ready(group)
        self._warm_up(group, topics, starts, is_given_up)

    def close(self) -> None:
        for process in {id(process): process for process in self._processes.values()}.values():
            process.close()

    def _launch(self, group: tuple[Side, ...]) -> None:
        run, name = self._assignment.run_dir, "-".join(group)
        log = run.local(run.log(f"{self._assignment.case}-{name}")) if run.is_local else None
        process = PipedProcess(_MODULE, "the library's process", log)
        for side in group:
            self._processes[side] = process
        process.say(
            {
                "comparison": self._planned.model_dump(mode="json", by_alias=True),
                "sides": group,
                "endpoints": self._assignment.endpoints,
                "environment": self._environment,
                "seed": self._assignment.tag,
                "debug": self._assignment.debug,
            }
        )

    def _await_ready(self, group: tuple[Side, ...]) -> None:
        self._ask(group, "ready", _READY_DEADLINE_S)

    def _warm_up(
        self,
        group: tuple[Side, ...],
        topics: Mapping[Side, str],
        starts: Starts,
        is_given_up: Callable[[], bool],
    ) -> list[dict[str, Any]]:
        if is_given_up():
            return []
        mine = {side: topics[side] for side in group}
        self._processes[group[0]].say({"warm_up": mine, "starts": _plain(starts, mine.values())})
        comparison = self._planned.comparison
        limit_s = comparison.warm_up_limit if comparison.warm_up_messages == "auto" else 0.0
        deadline_s = len(group) * (limit_s + 2 * comparison.test_timeout) + _MARGIN_S
        found = self._ask(group, "warm", deadline_s, is_given_up)
        if found is None:
            return []
        self.warm_ups += [PartWarmUp.model_validate(told) for told in found["warm_ups"]]
        rows: list[dict[str, Any]] = found["settings"]
        return rows

    def _ask(
        self,
        group: tuple[Side, ...],
        word: str,
        deadline_s: float,
        is_given_up: Callable[[], bool] = lambda: False,
    ) -> Any:
        """What comes with the answer; without a good one the comparison cannot go on. None when the run is
        given up meanwhile."""
        end = time.monotonic() + deadline_s
        while (answer := self._processes[group[0]].answer(_LOOK_S)) is None and time.monotonic() < end:
            if is_given_up():
                return None
        who = " and ".join(dict.fromkeys(self._planned.target_of(side).name for side in group))
        if answer is None:
            raise CaseFailed(f"{who}: the library's process was not {word} within {deadline_s:g} s")
        if "failed" in answer:
            kind = getattr(errors, answer["failed"]["error"], CaseFailed)
            raise kind(f"{who}: {answer['failed']['reason']}")
        if word not in answer:
            raise CaseFailed(f"{who}: {answer.get('died', 'its process gave no answer')}")
        return answer[word]


def _plain(starts: Starts, topics: Any) -> dict[str, list[tuple[int, int, int]]]:
    return {topic: [(t, p, offset) for (t, p), offset in starts[topic].items()] for topic in topics}
