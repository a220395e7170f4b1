"""What is said of A against B, and by which rule: one for every design, however many rounds it had."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SIGNIFICANCE = 0.05
POWER = 0.8
"""What is called detectable is found in so many of such runs."""


class Verdict(StrEnum):
    A_FASTER = "A faster"
    B_FASTER = "B faster"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"

    @property
    def is_of_a_difference(self) -> bool:
        return self in (Verdict.A_FASTER, Verdict.B_FASTER)


class Decision(StrEnum):
    """How a comparison ended that goes on until it is decided."""

    DECIDED = "decided"
    OPEN_AT_TIME_LIMIT = "open_at_time_limit"
    OPEN_AFTER_FAILURES = "open_after_failures"
    OPEN_WHEN_STOPPED = "open_when_stopped"


@dataclass(frozen=True)
class PairedRatio:
    """Times of A over times of B; below 1 A is faster."""

    pairs: int
    median: float
    """Of the pairs' ratios."""
    interval: tuple[float, float] | None
    """95%, for the median; None with too few pairs."""
    p: float | None
    """Two-sided, that the ratio is 1; not corrected for other comparisons."""
    detectable: float | None
    """A true ratio this far above 1 (or below 1/…) would have been found in four of five such runs."""


def verdict(ratio: PairedRatio | None, corrected_p: float | None, equivalence_percent: float) -> Verdict:
    """Within the band it is equivalent, however surely it differs. Else test and interval must agree."""
    if ratio is None or ratio.interval is None or corrected_p is None:
        return Verdict.INCONCLUSIVE
    low, high = ratio.interval
    band = 1 + equivalence_percent / 100
    if low >= 1 / band and high <= band:
        return Verdict.EQUIVALENT
    if corrected_p < SIGNIFICANCE and (high < 1 or low > 1):
        return Verdict.A_FASTER if high < 1 else Verdict.B_FASTER
    return Verdict.INCONCLUSIVE
