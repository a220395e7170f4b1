"""Loads of which it is known when they came to rest, drawn from the simulated broker's laws, and watched by
what the launcher does: where does measuring begin, and is what was measured called valid?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.analysis.at_rest import unrest
from streamgauge.analysis.validity import Judged, validity
from streamgauge.core.run_dir import RunDir
from streamgauge.core.steady_state import SLOT_S, TOLERANCE, settled
from streamgauge.core.verdicts import Validity
from streamgauge.drivers.simulated.simulation import Laws, latencies_ns, swayed_ns
from streamgauge.launch.meeting import Call
from streamgauge.launch.settling import Settling
from streamgauge.plan.warm_up_file import WarmUpEnding
from streamgauge.spec.settling import SettlingTerms
from tests.proof import PROOF

MEASURED_S = 10.0
LIMIT_S = 60.0
LEAD_S = 0.4
TRIALS = 500 if PROOF else 40


@dataclass(frozen=True)
class Planted:
    """A transient as the laws have it, and since when the load is at rest; None: never."""

    transient: dict[str, object] | None
    rest_s: float | None


def steady(_: np.random.Generator) -> Planted:
    return Planted(None, 0.0)


def decay(rng: np.random.Generator) -> Planted:
    times, span_s = rng.uniform(1, 20), rng.uniform(0.3, 2.5)
    # At rest when no more than the tolerance is left of it.
    rest_s = span_s * math.log(times / TOLERANCE)
    return Planted({"shape": "decay", "times": times, "for": span_s}, rest_s)


def step(rng: np.random.Generator) -> Planted:
    # Later than the measured time is long, nobody could tell it from the level itself.
    at_s = rng.uniform(0.5, MEASURED_S - 1)
    return Planted({"shape": "step", "times": rng.uniform(0.5, 10), "at": at_s}, at_s)


def spike(rng: np.random.Generator) -> Planted:
    at_s, long_s = rng.uniform(0.5, 3.5), rng.uniform(0.75, 2)
    return Planted({"shape": "spike", "times": rng.uniform(2, 20), "at": at_s, "for": long_s}, at_s + long_s)


def ramp(rng: np.random.Generator) -> Planted:
    # By more than the tolerance within the measured time, as long as it is watched.
    return Planted({"shape": "ramp", "times": rng.uniform(0.2, 2)}, None)


def oscillation(rng: np.random.Generator) -> Planted:
    return Planted({"shape": "oscillation", "times": rng.uniform(0.4, 0.8), "for": rng.uniform(2, 10)}, None)


def latencies_of(planted: Planted, rng: np.random.Generator) -> NDArray[np.float64]:
    """A row of latencies in ms for each slot."""
    rate = int(rng.choice([1000, 2000, 5000]))
    laws = Laws.model_validate(
        {
            "seed": int(rng.integers(1 << 31)),
            "latency": {"law": "lognormal", "median_ms": 2, "sigma": rng.uniform(0.2, 0.6)},
            "transients": [planted.transient] if planted.transient else [],
        }
    )
    count = int((LIMIT_S + MEASURED_S + 2) * rate)
    since_ns = np.arange(count, dtype=np.int64) * (1_000_000_000 // rate)
    latency_ns = swayed_ns(laws, latencies_ns(laws, 0, 0, count), since_ns)
    slots: NDArray[np.float64] = latency_ns.reshape(-1, int(SLOT_S * rate)) / 1e6
    return slots


class Unheard(Call):
    """Nobody has to hear what is said."""

    def __init__(self) -> None:
        super().__init__(RunDir("/nowhere"), "")

    def say(self, word: str, content: object) -> None: ...


def watched(levels: NDArray[np.float64], measured_s: float = MEASURED_S) -> tuple[int, WarmUpEnding]:
    """As the launcher does, until a whole measured time lies behind the slot that it chose."""
    settling = Settling(SettlingTerms(LIMIT_S, measured_s), ["consumer-0"], {}, Unheard(), LEAD_S)
    for now in range(2, len(levels) + 1, 2):
        settling.judge(now, settled(levels[:now]).start, levels[:now])
        if settling.slot is not None and (now - settling.slot) * SLOT_S >= measured_s:
            return settling.slot, settling.ending
    raise AssertionError("it went on beyond its limit")


def outcomes(plant: Callable[[np.random.Generator], Planted]) -> list[tuple[float | None, bool]]:
    """By trial: how far the chosen start is from the truth, and whether what was measured is called valid."""
    found: list[tuple[float | None, bool]] = []
    for trial in range(TRIALS):
        rng = np.random.default_rng((17, trial))
        planted = plant(rng)
        slots = latencies_of(planted, rng)
        start, ending = watched(np.median(slots, axis=1))
        measured = slots[start : start + int(MEASURED_S / SLOT_S)]
        off_s = None if planted.rest_s is None else start * SLOT_S - planted.rest_s
        found.append((off_s, is_valid(ending, measured)))
    return found


def is_valid(ending: WarmUpEnding, slots: NDArray[np.float64]) -> bool:
    """By the rules for what was measured: they see how the warm-up ended, medians of seconds and slots."""
    case = Judged(
        measured_count=100_000,
        rested=ending is WarmUpEnding.AT_REST,
        medians_ms=np.median(slots.reshape(int(MEASURED_S), -1), axis=1).tolist(),
        slots_ms=np.median(slots, axis=1).tolist(),
    )
    return validity(case)[0] is Validity.VALID


@pytest.mark.proof
@pytest.mark.parametrize("plant", [decay, step, spike, steady])
def test_measuring_begins_within_a_second_of_the_truth(
    plant: Callable[[np.random.Generator], Planted],
) -> None:
    near = [off_s is not None and abs(off_s) <= 1 for off_s, _ in outcomes(plant)]
    assert np.mean(near) >= 0.95


@pytest.mark.proof
@pytest.mark.parametrize("plant", [ramp, oscillation])
def test_what_never_rests_is_never_valid(plant: Callable[[np.random.Generator], Planted]) -> None:
    assert not any(valid for _, valid in outcomes(plant))


TRUE_MS = 0.4
DEMO_S = 5.0
DEMOS = 500
"""Always: they are quickly drawn, and of forty two are a twentieth by chance."""


def compiling(rng: np.random.Generator) -> NDArray[np.float64]:
    """As a young broker gives it: its Java makes slots vary, and the level falls by one step and another."""
    since_s = np.arange(int(LIMIT_S / SLOT_S)) * SLOT_S
    levels = TRUE_MS * (1 + rng.uniform(5, 50) * np.exp(-since_s / rng.uniform(0.3, 1)))
    for at_s in (rng.uniform(2, 6), rng.uniform(5, 9)):
        levels = levels * np.where(since_s < at_s, rng.uniform(1.2, 1.6), 1)
    noisy: NDArray[np.float64] = np.where(since_s < 9, 0.25, 0.08) * rng.standard_normal(len(levels))
    return levels * np.exp(noisy)


def test_a_warm_up_that_ended_at_rest_is_hardly_ever_refused_afterwards() -> None:
    """It was in one demo of eight, by the rule for a few seconds, which the warm-up did not look at."""
    refused, times = [], []
    for trial in range(DEMOS):
        levels = compiling(np.random.default_rng((3, trial)))
        start, ending = watched(levels, DEMO_S)
        measured = levels[start : start + int(DEMO_S / SLOT_S)]
        seconds = np.median(measured.reshape(-1, 4), axis=1)
        refused.append(unrest(seconds.tolist(), measured.tolist()) is not None)
        times.append(float(np.median(measured)) / TRUE_MS)
        assert ending is WarmUpEnding.AT_REST
    assert np.mean(refused) <= 0.05
    assert np.median(times) <= 1.1


@pytest.mark.proof
def test_what_rests_is_hardly_ever_invalid() -> None:
    assert np.mean([not valid for _, valid in outcomes(steady)]) <= 0.02
