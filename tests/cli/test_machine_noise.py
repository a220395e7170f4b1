from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest

from streamgauge.cli.machine_noise import machine_noise


def _clock(times_ns: list[int]) -> Callable[[], int]:
    """Each piece of work takes the next of these."""

    def ticks() -> Iterator[int]:
        now = 0
        for time_ns in times_ns:
            yield now
            now += time_ns
            yield now

    reading = ticks()
    return lambda: next(reading)


def test_a_machine_without_noise_sees_everything() -> None:
    noise = machine_noise(10, work=lambda: None, now_ns=_clock([1000] * 20))
    assert (noise.detectable_percent, noise.spread_percent, noise.bias_percent) == (0, 0, 0)


def test_what_the_same_differs_by_cannot_be_seen() -> None:
    # Turn about, one of a pair takes 10% longer: once the first, once the second.
    noise = machine_noise(40, work=lambda: None, now_ns=_clock([110, 100, 110, 100] * 20))
    assert noise.spread_percent == pytest.approx(10.1, abs=0.5)
    spread = math.log1p(noise.spread_percent / 100)
    assert noise.detectable_percent == pytest.approx(100 * math.expm1(2.8 * spread / math.sqrt(20)))
    assert noise.bias_percent == pytest.approx(0, abs=1e-9)


def test_an_order_that_matters_cancels_out() -> None:
    """Whoever goes second is slower: ABBA gives both their share."""
    noise = machine_noise(4, work=lambda: None, now_ns=_clock([100, 120] * 4))
    assert noise.bias_percent == pytest.approx(0, abs=1e-9)


def test_the_work_itself_can_be_done() -> None:
    noise = machine_noise(2)
    assert noise.median_ms > 0
    assert noise.detectable_percent >= 0
