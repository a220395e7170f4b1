"""Comparisons whose true answer is known: do interval and verdict say it?

Three kinds. *Simulated* trials run the whole measuring code on two simulated brokers, one slower by the true
ratio; only processes and Spark are left out. *Drawn* trials feed times of one noise law to the same
analysis, since a real machine's noise is worse than a simulated broker's. *Sequential* trials are drawn too,
and go on until they are decided, by the rules of referee and analysis, looking after every six rounds.
"""

from __future__ import annotations

import gc
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.status import CaseStatus
from streamgauge.drivers.registry import open_driver
from streamgauge.families.compare.comparisons import comparisons
from streamgauge.families.compare.open_cells import OpenCells
from streamgauge.families.compare.planned_comparison import (
    ROUNDS_ADDED,
    SIDES,
    TEMPERATURES,
    PlannedComparison,
    Temperature,
    Turn,
)
from streamgauge.families.compare.turn_taking import TurnTaking, blank_row
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

RATIOS = (1.0, 1.05, 1.2, 2.0)
REPEAT = 20
SEQUENTIAL_RATIOS = (1.0, 1.05, 1.2)
MOST_ROUNDS = 300
"""Of a sequential trial; the time limit of a run would be over."""

Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Floats]
"""Logarithms of what multiplies each of so many times, in the order in which they are measured."""


@dataclass
class Tally:
    """What became of some trials with one true ratio."""

    true_ratio: float
    trials: int = 0
    covered: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    widths: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        low, high = row["interval_low_percent"], row["interval_high_percent"]
        self.trials += 1
        self.covered += low <= 100 * self.true_ratio <= high
        self.widths.append(high / low)
        self.verdicts[row["verdict"]] += 1
        self.rounds.append(row["rounds"])

    @property
    def coverage(self) -> float:
        return self.covered / self.trials

    @property
    def false_verdicts(self) -> float:
        """Verdicts that the truth contradicts: of the wrong side, or of equivalence beyond the band."""
        wrong = {"A faster"} if self.true_ratio > 1 else {"A faster", "B faster"}
        if self.true_ratio > 1.05:
            wrong.add("equivalent")
        return sum(self.verdicts[name] for name in wrong) / self.trials


def simulated_trials(true_ratio: float, trials: int, first_seed: int = 0) -> dict[str, Tally]:
    """By temperature: A is a simulated library that takes `true_ratio` times as long as B."""
    tallies: dict[str, Tally] = {temperature: Tally(true_ratio) for temperature in TEMPERATURES}
    gc.collect()
    gc.freeze()  # trials collect garbage between two operations, as the product does
    try:
        for number in range(trials):
            case = _case(true_ratio, 2 * (first_seed + number))
            for row in comparisons(_measured(case), case, None)[0]:
                tallies[row["temperature"]].add(row)
    finally:
        gc.unfreeze()
    return tallies


def drawn_trials(noise: Noise, true_ratio: float, trials: int, seed: int = 1) -> Tally:
    """Times drawn from a law; A's are multiplied by the true ratio."""
    tally = Tally(true_ratio)
    case = _case(true_ratio, 0)
    rng = np.random.default_rng((seed, round(1000 * true_ratio)))
    for _ in range(trials):
        for row in comparisons(_drawn(case, noise, rng), case, None)[0]:
            if row["temperature"] == "warm":
                tally.add(row)
    return tally


def sequential_trials(noise: Noise, true_ratio: float, trials: int, seed: int = 1) -> Tally:
    """Until decided; a trial is a cell with two comparisons, cold and warm, and goes on until both are."""
    tally = Tally(true_ratio)
    case = _case(true_ratio, 0, repeat=ROUNDS_ADDED, until_decided=True)
    rng = np.random.default_rng((seed, round(1000 * true_ratio)))
    for _ in range(trials):
        for row in comparisons(_until_decided(case, noise, rng), case, CaseStatus("ok"))[0]:
            tally.add(row)
    return tally


def _until_decided(case: Case, noise: Noise, rng: np.random.Generator) -> list[dict[str, Any]]:
    planned = as_work(case.work, PlannedComparison)
    [cell] = planned.cells
    logs = {temperature: iter(noise(rng, len(SIDES) * (MOST_ROUNDS + 1))) for temperature in TEMPERATURES}
    cells, found, rounds = OpenCells(planned), [], 0
    added = planned.rounds(cell)
    while rounds < MOST_ROUNDS and cells.still_open():
        for turns in added:
            for turn in turns:
                rows = [_drawn_row(planned, turn, name, next(own)) for name, own in logs.items()]
                cells.add(turn.side, rows)
                found += rows
        rounds += ROUNDS_ADDED
        added = planned.added_rounds(cell, rounds)
    return found


def _measured(case: Case) -> Iterator[dict[str, Any]]:
    planned = as_work(case.work, PlannedComparison)
    with tempfile.TemporaryDirectory(prefix="streamgauge-verdicts-") as folder:
        endpoints = {"folder": folder, "partitions": "1"}
        sides = {side: TurnTaking(side, planned, endpoints, {}, seed=1) for side in SIDES}
        driver = open_driver(planned.a, endpoints)
        for turns in planned.rounds(planned.cells[0]):
            for turn in turns:
                names = tuple(turn.topics.values())
                driver.prepare_topics(planned.comparison.topics, names)
                yield from sides[turn.side].take_turn(turn, {name: {(0, 0): 0} for name in names})
                driver.remove_topics(list(names))


def _drawn(case: Case, noise: Noise, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    planned = as_work(case.work, PlannedComparison)
    turns: list[Turn] = [turn for turns in planned.rounds(planned.cells[0]) for turn in turns]
    logs = noise(rng, len(turns))
    for turn, log in zip(turns, logs, strict=True):
        yield _drawn_row(planned, turn, "warm", log)


def _drawn_row(
    planned: PlannedComparison, turn: Turn, temperature: Temperature, log: float
) -> dict[str, Any]:
    ratio = 1.0 if turn.side == "b" else _true_ratio(planned)
    elapsed_ns = round(1e7 * ratio * np.exp(log))
    return blank_row(turn, temperature, "produce") | {"elapsed_ns": elapsed_ns, "seen": 10, "missing": 0}


def _true_ratio(planned: PlannedComparison) -> float:
    return float(planned.a.settings["send_ns"] / planned.b.settings["send_ns"])


def _case(true_ratio: float, seed: int, **comparison: Any) -> Case:
    def target(name: str, factor: float, own_seed: int) -> dict[str, Any]:
        settings = {
            "seed": own_seed,
            "latency": {"law": "lognormal", "median_ms": 2 * factor, "sigma": 0.3},
            "send_ns": round(10_000 * factor),
            "connect_ms": 5 * factor,
        }
        return {"name": name, "driver": "simulated", "settings": settings}

    content = {
        "targets": [target("a", true_ratio, seed), target("b", 1.0, seed + 1)],
        "comparison": {
            "lengths": [10],
            "messages": [10],
            "repeat": REPEAT,
            "produce_only": True,
            **comparison,
        },
    }
    return make_plan(parse(Workload, content, "verdicts"), "verdicts").cases[0]


def _even(rng: np.random.Generator, count: int) -> Floats:
    return rng.normal(0, 0.1, count)


def _heavy_tailed(rng: np.random.Generator, count: int) -> Floats:
    """One in seven takes longer, some of them by far."""
    stalled = rng.random(count) < 0.15
    return rng.normal(0, 0.1, count) + np.where(stalled, np.log1p(rng.pareto(1.2, count)), 0.0)


def _two_humped(rng: np.random.Generator, count: int) -> Floats:
    """A third takes 20 times as long, as getting a producer id does."""
    return rng.normal(0, 0.08, count) + np.where(rng.random(count) < 0.3, np.log(20), 0.0)


def _wandering(rng: np.random.Generator, count: int) -> Floats:
    """What the machine does otherwise comes and goes slowly: neighbours are alike."""
    logs = np.zeros(count)
    for n in range(1, count):
        logs[n] = 0.9 * logs[n - 1] + rng.normal(0, 0.1)
    return logs + rng.normal(0, 0.05, count)


def _rising(rng: np.random.Generator, count: int) -> Floats:
    """Everything gets slower by two thirds over the cell."""
    return np.linspace(0, 0.5, count) + rng.normal(0, 0.05, count)


def _skewed(rng: np.random.Generator, count: int) -> Floats:
    logs: Floats = np.log1p(rng.exponential(0.5, count))
    return logs


LAWS: dict[str, Noise] = {
    "even": _even,
    "heavy-tailed": _heavy_tailed,
    "two-humped": _two_humped,
    "wandering": _wandering,
    "rising": _rising,
    "skewed": _skewed,
}
