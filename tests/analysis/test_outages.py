"""What lies together is one outage, however it comes; after some seconds of calm there may be another."""

from __future__ import annotations

import random

import numpy as np
import pytest

from streamgauge.analysis.outages import Hits, Outages

S = 1_000_000_000


def hits(*spans: tuple[float, float]) -> Hits:
    """Since when and until when, in seconds; due 0.1 s before, felt at the end."""
    since, over = (np.array([int(span[end] * S) for span in spans], np.int64) for end in (0, 1))
    return Hits(since, over, over, since - S // 10)


def seen(*parts: Hits, last_due_s: float) -> Outages:
    found = Outages()
    for part in parts:
        found.add(part)
    found.see(np.array([int(last_due_s * S)], np.int64))
    return found


def test_it_is_over_at_the_first_gap_of_five_seconds() -> None:
    outages = seen(hits((1, 2), (6.9, 7), (12, 12.5), (12.1, 12.2)), last_due_s=30)

    first = outages.first(0)

    assert first is not None
    assert (first.since_ns, first.felt_ns, first.over_ns, first.count) == (1 * S, 2 * S, 7 * S, 2)
    assert outages.later_count(first) == 2
    assert outages.is_over


def test_one_that_waits_long_bridges_what_looks_like_calm() -> None:
    """Of a message that fails after its 30 s nobody hears before."""
    first = seen(hits((1, 1.5), (2, 32), (36, 36)), last_due_s=60).first(0)

    assert first is not None
    assert (first.over_ns, first.count) == (36 * S, 3)


def test_the_order_in_which_hits_come_changes_nothing() -> None:
    draw = random.Random(7)
    spans = [(at, at + draw.expovariate(1)) for at in (draw.uniform(0, 300) for _ in range(60))]
    whole = seen(hits(*spans), last_due_s=400)
    draw.shuffle(spans)
    pieces = seen(*(hits(*spans[at : at + 3]) for at in range(0, 60, 3)), last_due_s=400)

    first = whole.first(300 * S)
    assert first is not None
    assert first == pieces.first(300 * S)
    assert whole.later_count(first) == pieces.later_count(first) > 0


def test_what_begins_long_after_the_fault_was_over_is_none_of_its_doing() -> None:
    outages = seen(hits((25, 25.1)), last_due_s=60)

    assert outages.first(4 * S) is None
    assert outages.later_count(None) == 1
    assert outages.first(21 * S) is not None


@pytest.mark.parametrize(
    ("spans", "last_due_s", "is_over"),
    [
        ((), 10, True),
        (((1, 2),), 10, True),
        (((1, 9.5),), 1.8, False),  # nothing that was due later shows that it is over
        (((1, 2), (9.5, 9.6)), 9.5, True),  # a hiccup, and not an outage
        (((1, 2), (12, 20)), 12.5, False),  # it was well for a while, and then no more
    ],
)
def test_whether_it_is_over(spans: tuple[tuple[float, float], ...], last_due_s: float, is_over: bool) -> None:
    assert seen(hits(*spans), last_due_s=last_due_s).is_over is is_over
