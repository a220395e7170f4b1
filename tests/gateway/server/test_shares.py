from __future__ import annotations

from streamgauge.gateway.server.shares import Share

SECOND = 1_000_000_000


def test_a_share_is_saved_up_and_used_and_comes_back() -> None:
    share = Share(0.25, 4)
    assert share.spend(SECOND, 100 * SECOND) == 0
    assert share.is_half_used
    assert share.spend(SECOND // 4, 100 * SECOND) == 1.0
    assert share.used(100 * SECOND) == 1.25
    assert share.spend(0, 101 * SECOND) == 0
    assert share.is_whole(200 * SECOND)
    assert not share.is_whole(102 * SECOND)


def test_what_is_not_used_is_not_saved_up_for_ever() -> None:
    share = Share(0.5, 2)
    share.spend(0, 1000 * SECOND)
    assert share.spend(3 * SECOND, 2000 * SECOND) == 4.0
    assert share.is_overdrawn_twice
