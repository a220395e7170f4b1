"""When is a library at rest? Block times of which it is known, swayed as the simulated broker's laws do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.core.steady_state import LEAST_SLOTS
from streamgauge.drivers.simulated.simulation import Laws, latencies_ns, swayed_ns
from streamgauge.families.compare.block_rest import LEAST_S, BlockRest

BLOCK_S = 0.1
BLOCKS = 250
TRIALS = 20


def block_times(transient: dict[str, Any] | None, trial: int, sigma: float) -> NDArray[np.int64]:
    laws = Laws.model_validate(
        {
            "seed": trial,
            "latency": {"law": "lognormal", "median_ms": 30, "sigma": sigma},
            "transients": [transient] if transient else [],
        }
    )
    since_ns = (np.arange(BLOCKS) * BLOCK_S * 1e9).astype(np.int64)
    return swayed_ns(laws, latencies_ns(laws, 0, 0, BLOCKS), since_ns)


def rest_s(*series: NDArray[np.int64]) -> float | None:
    """When it was found; None: never."""
    rest = BlockRest()
    for block, times in enumerate(zip(*series, strict=True)):
        now_s = block * BLOCK_S
        rest.add(dict(zip(("produce", "consume"), map(int, times), strict=False)), now_s)
        if rest.is_at_rest:
            return now_s
    return None


@pytest.mark.parametrize(
    ("transient", "over_s"),
    [
        (None, 0.0),
        ({"shape": "step", "times": 3, "at": 3.0}, 3.0),
        ({"shape": "decay", "times": 10, "for": 1.5}, 6.9),
        ({"shape": "spike", "times": 8, "at": 1.0, "for": 2.0}, 3.0),
    ],
)
def test_rest_is_found_when_a_planted_transient_is_over(
    transient: dict[str, Any] | None, over_s: float
) -> None:
    found = [rest_s(block_times(transient, trial, 0.05)) for trial in range(TRIALS)]
    # Not before the time is over that it takes to be sure, nor long after it.
    near = [at_s is not None and -1.5 <= at_s - over_s - LEAST_S <= 4 for at_s in found]
    assert np.mean(near) >= 0.9, found


@pytest.mark.parametrize(
    "transient", [{"shape": "ramp", "times": 3}, {"shape": "oscillation", "times": 0.7, "for": 5.0}]
)
def test_what_never_rests_is_never_found_to(transient: dict[str, Any]) -> None:
    assert {rest_s(block_times(transient, trial, 0.05)) for trial in range(TRIALS)} == {None}


def test_every_operation_has_to_be_at_rest() -> None:
    flat, late = block_times(None, 1, 0.02), block_times({"shape": "decay", "times": 9, "for": 2.0}, 2, 0.02)
    alone, found = rest_s(flat), rest_s(flat, late)
    assert alone == pytest.approx(LEAST_S)
    assert found is not None
    assert found >= 9


def test_a_few_fast_blocks_are_not_enough() -> None:
    """Twenty blocks within a tenth of a second: what compiles beside them has not even begun."""
    rest = BlockRest()
    for block in range(20):
        rest.add({"produce": 1000}, 0.005 * block)
    assert not rest.is_at_rest
    rest.add({"produce": 1000}, LEAST_S)
    assert rest.is_at_rest


def test_blocks_that_vary_much_have_to_last_longer() -> None:
    """As beside others that want the CPU: four seconds of such blocks tell no level."""
    found = [rest_s(block_times(None, trial, 0.5)) for trial in range(TRIALS)]
    assert min(at_s for at_s in found if at_s is not None) >= 1.4 * LEAST_S


def test_slow_blocks_are_as_many_as_slots_would_be() -> None:
    rest = BlockRest()
    for block in range(LEAST_SLOTS - 1):
        rest.add({"produce": 10**9}, 2.0 * block)
        assert not rest.is_at_rest
    rest.add({"produce": 10**9}, 2.0 * LEAST_SLOTS)
    assert rest.is_at_rest


def test_a_clock_that_did_not_move_has_a_level_all_the_same() -> None:
    rest = BlockRest(least_s=0.0)
    for block in range(LEAST_SLOTS):
        rest.add({"produce": 0}, float(block))
    assert rest.is_at_rest
