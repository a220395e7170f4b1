"""What a comparison knows of its cells while it runs: which are open, which not worth another round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamgauge.core.holm import holm
from streamgauge.families.compare.always_valid import always_valid_ratio
from streamgauge.families.compare.paired_times import PairedTimes, Place, place_of_trial
from streamgauge.families.compare.planned_comparison import SIDES, TEMPERATURES, Cell, PlannedComparison, Side
from streamgauge.families.compare.verdict import Verdict, verdict

_FAILURES_IN_A_ROW = 3
"""After so many of one side the rest of the cell is not tried."""


class OpenCells:
    """The same rules as the analysis has, on what there is so far."""

    def __init__(self, planned: PlannedComparison) -> None:
        self._planned = planned
        operations = planned.comparison.operations
        self._times: dict[Place, PairedTimes] = {
            (operation, temperature, cell.length, cell.messages): PairedTimes()
            for cell in planned.cells
            for operation in operations
            for temperature in TEMPERATURES
        }
        self._failures: dict[tuple[int, int], dict[Side, int]] = {
            (cell.length, cell.messages): dict.fromkeys(SIDES, 0) for cell in planned.cells
        }

    def add(self, side: Side, trials: Iterable[Mapping[str, Any]]) -> None:
        """The trials of one turn, in the order of turns."""
        failed: dict[tuple[int, int], bool] = {}
        for trial in trials:
            self._times[place_of_trial(trial)].add(trial)
            cell = trial["length"], trial["messages"]
            failed[cell] = failed.get(cell, False) or trial["error"] is not None
        for cell, has_failed in failed.items():
            counts = self._failures[cell]
            counts[side] = counts[side] + 1 if has_failed else 0

    def is_given_up(self, cell: Cell) -> bool:
        return max(self._failures[cell.length, cell.messages].values()) >= _FAILURES_IN_A_ROW

    def still_open(self) -> list[Cell]:
        """Cells in which some operation, cold or warm, has no verdict yet, in the order of the plan."""
        ratios = {place: times.ratio("b", always_valid_ratio) for place, times in self._times.items()}
        corrected = holm([ratio.p if ratio else None for ratio in ratios.values()])
        band = self._planned.comparison.equivalence_percent
        open_places = {
            place[2:]
            for (place, ratio), p in zip(ratios.items(), corrected, strict=True)
            if verdict(ratio, p, band) is Verdict.INCONCLUSIVE
        }
        return [
            cell
            for cell in self._planned.cells
            if (cell.length, cell.messages) in open_places and not self.is_given_up(cell)
        ]
