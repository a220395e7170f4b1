from __future__ import annotations

from typing import Any

import pytest

from streamgauge.analysis.squeezed import squeezed


def look(
    at_ns: int, swapped: int | None, throttled: int | None, host: str = "a", kind: str = "machine"
) -> Any:
    counters = {"swapped_bytes": swapped, "throttled_count": throttled}
    return {"at_ns": at_ns, "kind": kind, "host": host, **counters}


def test_machines_are_counted_each_by_itself() -> None:
    looks = [look(10, 5_000, 7), look(20, 5_000, 7), look(10, 0, 90, "b"), look(20, 300, 92, "b")]
    assert squeezed(looks, 10, 20) == (300, 2), "since boot, one machine has swapped more than the other"


@pytest.mark.parametrize(("span", "swapped"), [((10, 20), 1), ((15, 15), 1), ((25, 35), 14), ((31, 90), 8)])
def test_what_may_have_been_within_these_times_counts(span: tuple[int, int], swapped: int) -> None:
    looks = [look(at_ns, count, 0) for at_ns, count in ((10, 100), (20, 101), (30, 107), (40, 115))]
    assert squeezed(looks, *span).swapped_bytes == swapped


def test_what_nobody_counted_is_not_known() -> None:
    assert squeezed([], 0, 9) == (None, None)
    assert squeezed([look(1, None, 3), look(2, None, 3), look(1, 1, 1, kind="broker")], 0, 9) == (None, 0)
