"""A against B from as many pairs as there are, however often one has looked: `--until-decided`.

Who looks again and again until a test says something is told something in the end, true or not. Here
interval and p hold at all numbers of pairs at once, so that a run may end when a verdict is there, at a time
limit, or at Ctrl-C.

Pairs fall on either side of the true median ratio as a coin does, whatever their noise is like. Who bets
against that coin, with stakes drawn beforehand from Beta(a, a), has after n pairs, of which k lie below,
2ⁿ · B(k + a, n − k + a) / B(a, a) of every euro, and 20 of them at any time at all in one of 20 worlds at
most (Ville 1939). A ratio that would have made 20 of one is not the median: the rest is a 95% confidence
sequence (Howard and Ramdas 2022, "Sequential estimation of quantiles"). It needs no law of noise, and no
look planned ahead; docs/decisions/0042 says what else was tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from streamgauge.families.compare.verdict import POWER, SIGNIFICANCE, PairedRatio

_STAKES = 2.0
"""The a of Beta(a, a): the larger, the sooner small differences are found, and the later large ones."""


def always_valid_ratio(a: Sequence[float], b: Sequence[float]) -> PairedRatio | None:
    """`a` and `b` pair by pair, all above 0; None when there are no pairs."""
    logs = np.sort(np.log(np.asarray(a, float)) - np.log(np.asarray(b, float)))
    count = len(logs)
    if not count:
        return None
    below, above = int((logs < 0).sum()), int((logs > 0).sum())
    # A pair exactly at 1 is counted where it speaks least against it.
    nearest = min(max(below, count / 2), count - above)
    p = min(1.0, math.exp(-_log_wealth(nearest, count)))
    median = math.exp(float(np.median(logs)))
    shut_out = _shut_out(count)
    if not shut_out:
        return PairedRatio(count, median, None, p, None)
    low, high = float(logs[shut_out - 1]), float(logs[count - shut_out])
    errors_wide = (count - 2 * shut_out) / math.sqrt(count)
    found = (high - low) / 2 * (1 + NormalDist().inv_cdf(POWER) / errors_wide)
    return PairedRatio(count, median, (math.exp(low), math.exp(high)), p, math.exp(found))


def fewest_rounds_for_a_difference(tests: int) -> int:
    """Rounds before which not even a clear difference is believed, so many comparisons being made at once."""
    rounds = 1
    while math.exp(-_log_wealth(0, rounds)) * tests >= SIGNIFICANCE:
        rounds += 1
    return rounds


def _shut_out(count: int) -> int:
    """So many of the pairs at either end cannot be the median."""
    enough = -math.log(SIGNIFICANCE)
    found = 0
    while _log_wealth(found, count) >= enough and 2 * found < count:
        found += 1
    return found


def _log_wealth(below: float, count: int) -> float:
    """Of who bet that it is no fair coin; the least where half of the pairs lie below."""
    return (
        count * math.log(2)
        + _log_beta(below + _STAKES, count - below + _STAKES)
        - _log_beta(_STAKES, _STAKES)
    )


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
