"""The referee of a comparison: makes topics, calls each library in turn, keeps every trial.

It measures nothing itself, so that what it does costs no library anything.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.live import Live
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.core.errors import CaseFailed, StreamgaugeError
from streamgauge.drivers.contract import Driver
from streamgauge.families.compare.event_tables import CLIENT_SETTINGS, TRIALS
from streamgauge.families.compare.library_processes import LibraryProcesses
from streamgauge.families.compare.open_cells import OpenCells
from streamgauge.families.compare.planned_comparison import (
    ROUNDS_ADDED,
    SIDES,
    TEMPERATURES,
    Cell,
    PlannedComparison,
    Side,
    Turn,
)
from streamgauge.families.compare.turn_taking import blank_row
from streamgauge.recording.parquet import EventFiles

_LOGGER = logging.getLogger(__name__)
_IDLE_S = 0.05
_TOPIC_CONFIG = {"file.delete.delay.ms": "1000"}
"""Large tests would fill the disk: what is deleted is to be gone soon."""

Row = dict[str, Any]


class Referee:
    """One comparison."""

    def __init__(
        self,
        assignment: Assignment,
        planned: PlannedComparison,
        driver: Driver,
        libraries: LibraryProcesses,
        files: EventFiles,
        live: Live,
    ) -> None:
        self._planned, self._driver, self._libraries = planned, driver, libraries
        self._files, self._live = files, live
        comparison = planned.comparison
        config = {**_TOPIC_CONFIG, **comparison.topics.config}
        self._topics = comparison.topics.model_copy(update={"config": config})
        self._warm_up_topics: dict[Side, str] = {
            side: f"{planned.topic_prefix}-warm-up-{assignment.tag:08x}-{side}" for side in SIDES
        }
        self._rows: list[Row] = []
        self._cells = OpenCells(planned)
        self._end_s = math.inf
        self._still_open: int | None = None
        """Cells; None while all of them are had for the first time."""
        self._turns = 0
        self._broken: dict[Side, str] = {}
        """Whose process has to be begun anew."""
        self.timed_out = False
        """The time was over before every cell had its repetitions; rounds that are added may end so."""

    def idle(self) -> None:
        """Nothing to do until the start."""
        time.sleep(_IDLE_S)

    def run(self, rendezvous: Rendezvous) -> None:
        """All cells, until the end, the time limit, or until the run is given up."""
        self._end_s = time.monotonic() + self._planned.comparison.time_limit
        self._files.write_rows(CLIENT_SETTINGS, self._warm_up(rendezvous.stopping))
        for cell in self._planned.cells:
            if not self._play(cell, self._planned.rounds(cell), rendezvous):
                self.timed_out = not rendezvous.stopping()
                return
            self.keep()
        if self._planned.comparison.until_decided:
            self._until_decided(rendezvous)

    def _until_decided(self, rendezvous: Rendezvous) -> None:
        """Some rounds more for each open cell in turn, so that none of them has all the time that is left."""
        rounds = dict.fromkeys(self._planned.cells, self._planned.comparison.repeat)
        while still_open := self._cells.still_open():
            self._still_open = len(still_open)
            for cell in still_open:
                if not self._play(cell, self._planned.added_rounds(cell, rounds[cell]), rendezvous):
                    return
                rounds[cell] += ROUNDS_ADDED
            self.keep()

    def _play(self, cell: Cell, rounds: Iterable[list[Turn]], rendezvous: Rendezvous) -> bool:
        """False: the time is over, or the run is given up."""
        for turns in rounds:
            if rendezvous.stopping() or time.monotonic() > self._end_s:
                return False
            self._round(turns, rendezvous.stopping)
            if self._cells.is_given_up(cell):
                break
        return True

    def keep(self) -> None:
        """Write what there is: a cell that is done stays, whatever happens later."""
        rows, self._rows = self._rows, []
        self._files.write_rows(TRIALS, rows)

    def _warm_up(self, is_given_up: Callable[[], bool]) -> list[Row]:
        turns = len(self._planned.cells) * (self._planned.comparison.repeat + 1) * len(SIDES)
        self._live.told = {"completed": 0, "total": turns, "words": "warming up"}
        self._live.publish()
        names = tuple(self._warm_up_topics.values())
        made = self._driver.prepare_topics(self._topics, names)
        try:
            rows = self._libraries.warm_up(self._warm_up_topics, self._starts(names), is_given_up)
            return [row for row in rows if row["side"] != "control"]
        finally:
            self._remove(made)

    def _round(self, turns: list[Turn], is_given_up: Callable[[], bool]) -> None:
        names = tuple(turn.topics[temperature] for turn in turns for temperature in TEMPERATURES)
        made = self._driver.prepare_topics(self._topics, names)
        try:
            starts = self._starts(names)
            for turn in turns:
                if is_given_up():
                    return
                rows = self._turn(turn, starts, is_given_up)
                self._rows += rows
                self._cells.add(turn.side, rows)
                self._tell(turn, rows)
        finally:
            if not self._topics.keep:
                self._remove(made)

    def _remove(self, names: list[str]) -> None:
        """A topic that cannot be deleted is no reason to end."""
        try:
            self._driver.remove_topics(names)
        except StreamgaugeError as error:
            _LOGGER.warning("a topic is left behind: %s", error)

    def _tell(self, turn: Turn, rows: list[Row]) -> None:
        cells, repeat = self._planned.cells, self._planned.comparison.repeat
        cell, each = turn.cell, (repeat + 1) * len(SIDES)
        self._turns += 1
        self._live.count(0, self._live.messages + sum(row["seen"] for row in rows))
        took_ns = [row["elapsed_ns"] for row in rows if row["elapsed_ns"] is not None]
        self._live.tell_times(np.array(took_ns, np.int64))
        where = f"cell {cell.number + 1} of {len(cells)}: {cell.messages:,} × {cell.length:,} B  "
        if self._still_open is None:
            completed, total = cell.number * each + turn.position + 1, len(cells) * each
            where += f"repetition {turn.repetition + 1} of {repeat}"
        else:
            completed, total = self._turns, self._turns + self._still_open * ROUNDS_ADDED * len(SIDES)
            where += f"round {turn.repetition + 1}, cells still open: {self._still_open}"
        self._live.told = {"completed": completed, "total": total, "words": where, "times_are": "a block"}
        self._live.publish()

    def _turn(
        self, turn: Turn, starts: dict[str, dict[tuple[int, int], int]], is_given_up: Callable[[], bool]
    ) -> list[Row]:
        if turn.side in self._broken:
            self._renew(turn.side, is_given_up)
        rows, why = self._libraries.take_turn(turn, starts, is_given_up)
        if why is None:
            return rows
        self._broken[turn.side] = why
        return self._failed(turn, why)

    def _renew(self, side: Side, is_given_up: Callable[[], bool]) -> None:
        why = self._broken.pop(side)
        names = tuple(self._warm_up_topics.values())
        made = self._driver.prepare_topics(self._topics, names)
        try:
            self._libraries.renew(side, self._warm_up_topics, self._starts(names), is_given_up)
        except CaseFailed as error:
            raise CaseFailed(f"{error}; before that: {why}") from error
        finally:
            self._remove(made)

    def _failed(self, turn: Turn, why: str) -> list[Row]:
        return [
            blank_row(turn, temperature, operation) | {"error": why}
            for temperature in TEMPERATURES
            for operation in self._planned.comparison.operations
        ]

    def _starts(self, names: tuple[str, ...]) -> dict[str, dict[tuple[int, int], int]]:
        """Where each topic ends now; asking also makes sure that every leader answers."""
        ends = self._driver.end_offsets(names, self._topics.partitions)
        found: dict[str, dict[tuple[int, int], int]] = {name: {} for name in names}
        for (number, partition), offset in ends.items():
            found[names[number]][(0, partition)] = offset
        return found
