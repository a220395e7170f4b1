from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from bench.kafka_tools import Ran
from bench.rates import FETCHES, MOST_BYTES, RateBench, _best
from bench.steady import Steady


class PlayedBare:
    def __init__(self, seconds: float, missing: str = "") -> None:
        self._seconds, self.missing = seconds, missing

    def reading_s(self, topic: str, size: int, messages: int, settings: Mapping[str, object]) -> float:
        return self._seconds


class Written(RateBench):
    """Without a broker: only what would be written is kept."""

    def __init__(self, bare: Any) -> None:
        self._bare, self._client = bare, {}
        self.written: list[int] = []

    def _produced(self, topic: str, size: int, messages: int, *, keep_topic: bool = False) -> Any:
        assert keep_topic
        self.written.append(messages)


@pytest.mark.parametrize(
    ("size", "messages", "took_s", "more"),
    [
        (100, 1_000_000, 0.5, 7_000_000),
        (100, 1_000_000, 4.0, 0),
        (100, 1_000_000, 40.0, 0),
        (1024, 1_500_000, 0.1, MOST_BYTES // 1024 - 1_500_000),
    ],
)
def test_so_many_are_read_that_the_fastest_is_busy_for_four_seconds(
    size: int, messages: int, took_s: float, more: int
) -> None:
    bench = Written(PlayedBare(took_s))
    assert bench._more_to_read("t", size, messages) == more
    assert bench.written == ([more] if more else [])


def test_without_a_bare_loop_it_is_left_as_it_is() -> None:
    bench = Written(PlayedBare(0.1, "no C compiler on PATH"))
    assert bench._more_to_read("t", 100, 1000) == 0


def test_each_side_reads_with_the_fetches_that_are_best_for_it() -> None:
    rates = {1: 2e6, 2: 3e6, 4: 2.5e6, 16: 1e6}
    asked: list[int] = []

    def side(fetch_mib: int) -> Ran:
        asked.append(fetch_mib)
        return Ran(Steady(0, 1, int(rates[fetch_mib]), is_flat=True), 0.5, 100)

    best, line = _best("ours", side)
    assert asked == list(FETCHES)
    assert line == "… ours: fetches of 2 MiB (1 MiB 2.00M/s, 2 MiB 3.00M/s, 4 MiB 2.50M/s, 16 MiB 1.00M/s)"
    assert best().steady.rate_per_s == 3e6
