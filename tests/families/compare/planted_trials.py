"""Trials of a comparison whose answer is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from streamgauge.families.compare.planned_comparison import TEMPERATURES, PlannedComparison
from streamgauge.families.compare.turn_taking import blank_row
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

Row = dict[str, Any]
Change = Callable[[Row], Row | None]


def case_of(**comparison: Any) -> Case:
    content = {
        "targets": [{"name": "one", "driver": "simulated"}, {"name": "two", "driver": "simulated"}],
        "comparison": {
            "lengths": [10, 100],
            "messages": [5],
            "repeat": 12,
            "warm_up_messages": 100,
            **comparison,
        },
    }
    return make_plan(Workload.model_validate(content), "run").cases[0]


def trials(case: Case, ratio: float = 0.5, change: Change = lambda row: row, seed: int = 3) -> Iterator[Row]:
    """Every planned trial, A's times being `ratio` times B's, but for what `change` makes of it."""
    rng = np.random.default_rng(seed)
    planned = as_work(case.work, PlannedComparison)
    for cell in planned.cells:
        for turns in planned.rounds(cell):
            for turn in turns:
                for temperature in TEMPERATURES:
                    for operation in planned.comparison.operations:
                        factor = 1.0 if turn.side == "b" else ratio
                        row = blank_row(turn, temperature, operation) | {
                            "case": case.id,
                            "elapsed_ns": int(1e6 * factor * rng.lognormal(0, 0.05)),
                            "cpu_ns": 15_000 if turn.side == "b" else 5000,
                            "seen": cell.messages,
                            "missing": 0,
                        }
                        if (changed := change(row)) is not None:
                            yield changed
