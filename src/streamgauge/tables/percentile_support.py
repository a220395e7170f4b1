"""How many messages a percentile needs behind it before it is more than a guess.

A percentile is known by the messages beyond it. With ten of them its rank is off by a third (1/√10) in two
samples of three; with fewer, a single slow message moves it as it likes. So p50 needs 20 messages, p90 100,
p99 1,000 and p99.9 10,000. Minimum, maximum, mean and deviation are of the messages there were: they are
known whatever their number.
"""

from __future__ import annotations

import math

from streamgauge.tables.results import PERCENTILES

BEYOND = 10
"""Messages that must lie beyond a percentile, on its thinner side."""

HEADLINE = "p99"
"""The percentile that reports lead with: without support for it, a case is not to be quoted."""


DOUBTFUL = "doubtful"
"""The column of a CSV that names those of its row that have too few behind them."""


def fewest_messages(percentile: str) -> int:
    return fewest_beyond(PERCENTILES[percentile])


def fewest_beyond(share: float) -> int:
    """For the percentile below which that share of all messages is."""
    # Of 1 − 0.999 floats make a little more than a thousandth.
    return math.ceil(round(BEYOND / min(share, 1 - share), 3))


def is_supported(statistic: str, count: int) -> bool:
    """Whether so many messages are enough; statistics that are no percentiles need none."""
    return statistic not in PERCENTILES or count >= fewest_messages(statistic)
