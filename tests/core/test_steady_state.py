"""The rule on loads of which it is known when they came to rest, drawn from the simulated broker's laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.core.steady_state import (
    LEAST_SLOTS,
    TOLERANCE,
    Unrest,
    in_slots,
    judged,
    settled,
)
from streamgauge.drivers.simulated.simulation import Laws, latencies_ns, swayed_ns

from ..gateway.protocol.proof import PROOF

SLOT_S = 0.25
MEASURED_S = 10.0
LIMIT_S = 60.0
TRIALS = 500 if PROOF else 60


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


def levels_of(planted: Planted, rng: np.random.Generator) -> NDArray[np.float64]:
    """Median latencies a slot, as agents tell them."""
    rate = int(rng.choice([1000, 2000, 5000]))
    laws = Laws.model_validate(
        {
            "seed": int(rng.integers(1 << 31)),
            "latency": {"law": "lognormal", "median_ms": 2, "sigma": rng.uniform(0.2, 0.6)},
            "transients": [planted.transient] if planted.transient else [],
        }
    )
    count = int((LIMIT_S + MEASURED_S) * rate)
    since_ns = np.arange(count, dtype=np.int64) * (1_000_000_000 // rate)
    latency_ns = swayed_ns(laws, latencies_ns(laws, 0, 0, count), since_ns)
    medians: NDArray[np.float64] = np.median(latency_ns.reshape(-1, int(SLOT_S * rate)), axis=1)
    return medians


def watched(levels: NDArray[np.float64]) -> int | None:
    """As the launcher does: until a whole measured time lies behind the slot since which it is at rest."""
    for now in range(LEAST_SLOTS, len(levels) + 1, 2):
        start = settled(levels[:now]).start
        if start is not None and start * SLOT_S <= LIMIT_S and (now - start) * SLOT_S >= MEASURED_S:
            return start
    return None


def outcomes(plant: Callable[[np.random.Generator], Planted]) -> list[tuple[float | None, bool]]:
    """By trial: how far the chosen start is from the truth, and whether what was measured is called valid."""
    found: list[tuple[float | None, bool]] = []
    for trial in range(TRIALS):
        rng = np.random.default_rng((17, trial))
        planted = plant(rng)
        levels = levels_of(planted, rng)
        start = watched(levels)
        if start is None:
            found.append((None, False))
            continue
        measured = levels[start : start + int(MEASURED_S / SLOT_S)]
        off_s = None if planted.rest_s is None else start * SLOT_S - planted.rest_s
        found.append((off_s, judged(measured).start is not None))
    return found


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
    assert not any(is_valid for _, is_valid in outcomes(plant))


@pytest.mark.proof
def test_what_rests_is_hardly_ever_invalid() -> None:
    assert np.mean([not is_valid for _, is_valid in outcomes(steady)]) <= 0.02


def noisy(level: float, slots: int, seed: int = 3) -> NDArray[np.float64]:
    return level * np.exp(0.03 * np.random.default_rng(seed).standard_normal(slots))


def test_too_few_slots_say_nothing() -> None:
    few = noisy(1, LEAST_SLOTS - 1)
    assert settled(few).unrest is judged(few).unrest is Unrest.TOO_SHORT


def test_a_single_outlier_is_not_a_level() -> None:
    levels = noisy(1, 40)
    levels[20] = 50
    assert settled(levels).start == 0
    assert judged(levels).start == 0


def test_what_is_wrong_is_named_with_its_size() -> None:
    rising = noisy(1, 60) * np.linspace(1, 2, 60)
    found = judged(rising)
    assert found.unrest is Unrest.TREND
    assert found.change == pytest.approx(1, abs=0.3)
    stepped = np.concatenate([noisy(1, 70), noisy(1.5, 20)])
    found = judged(stepped)
    assert found.unrest is Unrest.STEP
    assert found.change == pytest.approx(0.5, abs=0.1)
    assert found.at == pytest.approx(70, abs=2)
    swinging = noisy(1, 80) * (1 + 0.5 * np.sin(np.arange(80) / 2))
    assert judged(swinging).unrest is Unrest.SWING


def test_changes_within_the_tolerance_are_rest() -> None:
    assert judged(np.concatenate([noisy(1, 50), noisy(1.05, 50)])).start == 0


def test_levels_that_do_not_vary_at_all() -> None:
    assert settled(np.full(20, 2.0)).start == 0
    assert judged(np.full(20, 2.0)).start == 0


def test_long_series_are_taken_together() -> None:
    assert len(in_slots(noisy(1, 14_400))) <= 240
    assert len(in_slots(noisy(1, 100))) == 100
