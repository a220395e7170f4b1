from __future__ import annotations

import numpy as np
import pytest

from streamgauge.core.clock import NS_PER_S
from streamgauge.drivers.simulated.simulation import Laws, served_ns


def one_by_one(taken_ns: list[int], free_ns: float, capacity_per_s: float) -> list[float]:
    """A single server, without any cleverness."""
    done = []
    for taken in taken_ns:
        free_ns = max(taken, free_ns) + NS_PER_S / capacity_per_s
        done.append(free_ns)
    return done


@pytest.mark.parametrize("rate", [100, 999, 1000, 1001, 5000])
@pytest.mark.parametrize("free_ns", [0.0, 2.5e9])
def test_messages_are_served_one_after_another(rate: int, free_ns: float) -> None:
    laws = Laws(capacity_per_s=1000)
    taken = np.arange(3000) * NS_PER_S // rate + NS_PER_S
    served = served_ns(laws, taken, free_ns)
    assert served == pytest.approx(one_by_one(taken.tolist(), free_ns, 1000), abs=1)


def test_batches_that_follow_each_other_are_one_queue() -> None:
    laws = Laws(capacity_per_s=700)
    taken = np.sort(np.random.default_rng(1).integers(0, 3 * NS_PER_S, 2000))
    whole = served_ns(laws, taken, 0.0)
    first = served_ns(laws, taken[:700], 0.0)
    second = served_ns(laws, taken[700:], float(first[-1]))
    assert np.concatenate([first, second]) == pytest.approx(whole, abs=1)


def test_without_a_capacity_nobody_waits() -> None:
    taken = np.array([5, 5, 7])
    assert served_ns(Laws(), taken, 100.0).tolist() == [5, 5, 7]
