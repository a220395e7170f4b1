from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.ring import RecoveryRing

from ...core.properties import untimed


@given(st.lists(st.lists(st.binary(max_size=20), max_size=5), max_size=20), st.integers(0, 100))
@untimed
def test_it_holds_the_newest_lines_that_fit(batches: list[list[bytes]], limit: int) -> None:
    ring = RecoveryRing(limit, end=7)
    lines: list[bytes] = []
    for batch in batches:
        ring.extend(batch)
        lines += batch
    assert ring.end == 7 + len(lines)
    held = ring.between(ring.start, ring.end)
    assert held == lines[len(lines) - (ring.end - ring.start) :]
    assert sum(map(len, held)) <= limit
    assert ring.between(ring.start - 1, ring.end) is None
    assert ring.between(ring.start, ring.end + 1) is None
    for after in range(ring.start, ring.end + 1):
        assert ring.between(after, ring.end) == lines[after - 7 :]
