from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.ring import RecoveryRing, RecoveryRoom

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


def test_who_holds_most_gives_up_half_when_all_hold_too_much() -> None:
    room = RecoveryRoom(1000)
    big, small = RecoveryRing(800, room=room), RecoveryRing(800, room=room)
    small.extend([b"x" * 100] * 3)
    big.extend([b"y" * 100] * 7)
    assert (room.held_bytes, room.cuts) == (1000, 0)
    small.extend([b"x" * 100])
    assert room.cuts == 1
    assert small.between(0, 4) == [b"x" * 100] * 4
    assert (big.start, big.end, big.held_bytes) == (4, 7, 300)
    assert big.between(3, 7) is None
    assert room.held_bytes == 700


def test_what_is_forgotten_takes_no_room() -> None:
    room = RecoveryRoom(1000)
    ring, other = RecoveryRing(1000, room=room), RecoveryRing(1000, room=room)
    other.extend([b"x" * 100])
    for _ in range(50):
        ring.extend([b"y" * 100] * 9)
        assert room.held_bytes <= 1000
    del ring
    assert (room.held_bytes, len(room.rings)) == (100, 1)
