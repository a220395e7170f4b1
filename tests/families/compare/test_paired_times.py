from __future__ import annotations

from typing import Any

from streamgauge.families.compare.paired_ratio import paired_ratio
from streamgauge.families.compare.paired_times import PairedTimes


def trial(side: str, repetition: int, elapsed_ns: int | None) -> dict[str, Any]:
    return {"side": side, "repetition": repetition, "elapsed_ns": elapsed_ns}


def test_only_rounds_in_which_both_have_a_time_are_pairs() -> None:
    times = PairedTimes()
    for found in (
        trial("a", -1, 9_000_000),
        trial("a", 0, 2000),
        trial("b", 0, 1000),
        trial("a", 1, 3000),
        trial("b", 1, None),
        trial("control", 1, 3000),
    ):
        times.add(found)
    assert times.of("a") == [2.0, 3.0]
    against_b, against_itself = times.ratio("b", paired_ratio), times.ratio("control", paired_ratio)
    assert against_b is not None
    assert against_itself is not None
    assert (against_b.pairs, round(against_b.median, 9)) == (1, 2.0)
    assert (against_itself.pairs, round(against_itself.median, 9)) == (1, 1.0)


def test_a_clock_that_did_not_move_is_no_trouble() -> None:
    times = PairedTimes()
    times.add(trial("a", 0, 0))
    assert times.of("a") == [0.001]
