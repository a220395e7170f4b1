from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streamgauge.families.compare.open_cells import OpenCells
from streamgauge.families.compare.planned_comparison import TEMPERATURES, Cell, PlannedComparison, Turn
from streamgauge.families.compare.turn_taking import blank_row
from streamgauge.plan.cases import as_work

from .planted_trials import case_of

Row = dict[str, Any]


def played(ratio: Callable[[Row], float], rounds: int = 24, sigma: float = 0.02) -> OpenCells:
    """Two cells, 10 B and 100 B, produced cold and warm; `ratio`: what A's time is of B's, by the row."""
    planned = as_work(case_of(repeat=rounds, produce_only=True).work, PlannedComparison)
    cells, rng = OpenCells(planned), np.random.default_rng(8)
    for cell in planned.cells:
        for turns in planned.rounds(cell):
            for turn in turns:
                cells.add(turn.side, [timed(turn, name, ratio, rng, sigma) for name in TEMPERATURES])
    return cells


def timed(
    turn: Turn, temperature: Any, ratio: Callable[[Row], float], rng: np.random.Generator, sigma: float
) -> Row:
    row = blank_row(turn, temperature, "produce")
    factor = 1.0 if turn.side == "b" else ratio(row)
    return row | {"elapsed_ns": round(1e6 * factor * rng.lognormal(0, sigma))}


def lengths(cells: list[Cell]) -> list[int]:
    return [cell.length for cell in cells]


def test_all_are_open_before_the_first_round_and_none_when_all_are_clear() -> None:
    assert lengths(played(lambda row: 2.0, rounds=1).still_open()) == [10, 100]
    assert played(lambda row: 2.0).still_open() == []
    assert played(lambda row: 1.0, sigma=0.005).still_open() == []


def test_one_operation_or_temperature_without_a_verdict_keeps_its_cell_open_and_no_other() -> None:
    def doubtful(row: Row) -> float:
        return 1.0 if (row["length"], row["temperature"]) == (100, "warm") else 4.0

    assert lengths(played(doubtful, sigma=0.3).still_open()) == [100]


def test_a_cell_whose_side_keeps_failing_is_not_open() -> None:
    cells = played(lambda row: 1.0, sigma=0.3)
    assert lengths(cells.still_open()) == [10, 100]
    planned = as_work(case_of(repeat=24, produce_only=True).work, PlannedComparison)
    short, long = planned.cells
    for turns in planned.added_rounds(short, 24):
        for turn in turns:
            rows = [blank_row(turn, name, "produce") | {"error": "gone"} for name in TEMPERATURES]
            cells.add(turn.side, rows if turn.side == "b" else [])
    assert cells.is_given_up(short)
    assert not cells.is_given_up(long)
    assert lengths(cells.still_open()) == [100]


def test_a_failure_in_between_gives_nothing_up() -> None:
    planned = as_work(case_of(repeat=6, produce_only=True).work, PlannedComparison)
    cells, [cell, _] = OpenCells(planned), planned.cells
    for number, turns in enumerate(planned.rounds(cell)):
        for turn in turns:
            row = blank_row(turn, "warm", "produce")
            cells.add(turn.side, [row | ({"error": "gone"} if number % 3 else {"elapsed_ns": 1000})])
    assert not cells.is_given_up(cell)
