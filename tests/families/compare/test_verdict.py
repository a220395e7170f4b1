from __future__ import annotations

import pytest

from streamgauge.families.compare.verdict import PairedRatio, Verdict, verdict


def found(ratio: float, low: float, high: float, p: float = 0.0001) -> PairedRatio:
    return PairedRatio(20, ratio, (low, high), p, 1.1)


@pytest.mark.parametrize(
    ("ratio", "p", "said"),
    [
        (found(0.8, 0.7, 0.9), 0.001, "A faster"),
        (found(1.2, 1.1, 1.3), 0.001, "B faster"),
        (found(1.2, 1.1, 1.3), 0.06, "inconclusive"),
        (found(1.02, 0.98, 1.06), 0.001, "inconclusive"),
        (found(1.02, 1.01, 1.04), 0.001, "equivalent"),
        (found(1.0, 0.953, 1.049), 0.9, "equivalent"),
        (found(1.0, 0.951, 1.049), 0.9, "inconclusive"),
        (found(1.0, 0.953, 1.051), 0.9, "inconclusive"),
        (None, None, "inconclusive"),
    ],
)
def test_a_verdict_needs_test_and_interval(ratio: PairedRatio | None, p: float | None, said: str) -> None:
    assert verdict(ratio, p, 5) == said


def test_the_band_of_equivalence_is_the_same_both_ways() -> None:
    assert verdict(found(1.0, 1 / 1.05, 1.05), 0.9, 5) == "equivalent"


def test_only_who_is_faster_is_a_difference() -> None:
    assert [found for found in Verdict if found.is_of_a_difference] == ["A faster", "B faster"]
