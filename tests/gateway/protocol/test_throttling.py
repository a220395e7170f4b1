from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.commands import UNFILTERED, UNLIMITED, Frequency
from streamgauge.gateway.protocol.events import Event
from streamgauge.gateway.protocol.throttling import ItemThrottle, RowThrottle, Throttle, new_throttle

from ...core.properties import untimed

S = 1_000_000_000


def row(key: str, command: str = "UPDATE", n: int = 0) -> Event:
    return Event({"key": key, "command": command, "n": str(n)})


def test_without_a_frequency_there_is_no_throttle() -> None:
    assert new_throttle("MERGE", UNLIMITED, 1, 100) is None
    assert new_throttle("COMMAND", UNFILTERED, None, 100) is None
    assert new_throttle("RAW", Frequency(1), None, 100) is None
    assert isinstance(new_throttle("COMMAND", Frequency(2), None, 100), RowThrottle)
    throttle = new_throttle("DISTINCT", Frequency(2), None, 100)
    assert isinstance(throttle, ItemThrottle)
    assert throttle.interval_ns == S // 2


def test_an_event_waits_for_its_turn_and_the_newest_counts() -> None:
    throttle, events = ItemThrottle(S, 1), [Event({}) for _ in range(4)]
    assert throttle.admits(events[0], 0)
    assert throttle.next_due_ns() is None
    assert not throttle.admits(events[1], 1)
    assert not throttle.admits(events[2], 2)
    assert throttle.next_due_ns() == S
    assert throttle.release(S - 1) == []
    assert throttle.release(S + 5) == [events[2]]
    assert throttle.next_due_ns() is None
    assert not throttle.admits(events[3], S + 6)
    assert throttle.next_due_ns() == 2 * S + 5


def test_a_buffer_keeps_more_than_the_newest() -> None:
    throttle, events = ItemThrottle(S, 2), [Event({}) for _ in range(4)]
    assert throttle.admits(events[0], 0)
    for event in events[1:]:
        assert not throttle.admits(event, 1)
    assert throttle.release(S) == [events[2]]
    assert throttle.release(2 * S) == [events[3]]


def test_rows_wait_each_for_itself_and_only_updates_do() -> None:
    throttle = RowThrottle(S)
    assert throttle.admits(row("x", "ADD"), 0)
    assert throttle.admits(row("y", "ADD"), 1)
    assert not throttle.admits(row("x", n=1), 2)
    newest = row("x", n=2)
    assert not throttle.admits(newest, 3)
    assert throttle.next_due_ns() == S
    assert throttle.release(S) == [newest]
    assert not throttle.admits(row("y", n=1), 4)
    assert throttle.admits(row("y", "DELETE"), 5)
    assert throttle.next_due_ns() is None
    assert throttle.admits(row("y", "ADD"), 6)


@given(st.lists(st.integers(0, S), max_size=60), st.booleans())
@untimed
def test_no_second_sees_more_than_the_frequency_allows_and_the_last_event_gets_through(
    gaps: list[int], by_row: bool
) -> None:
    throttle: Throttle = RowThrottle(S // 2) if by_row else ItemThrottle(S // 2, 1)
    now, passed, last = 0, [], None
    for gap in gaps:
        now += gap
        for event in throttle.release(now):
            passed.append((now, event))
        last = row("x")
        if throttle.admits(last, now):
            passed.append((now, last))
    due = throttle.next_due_ns()
    if due is not None:
        passed += [(max(due, now), event) for event in throttle.release(max(due, now))]
    times = [time for time, _ in passed]
    assert all(later - earlier >= S // 2 for earlier, later in pairwise(times))
    if last is not None:
        assert passed[-1][1] is last


def test_a_copy_goes_its_own_way() -> None:
    for throttle in (ItemThrottle(S, 1), RowThrottle(S)):
        assert throttle.admits(row("x", "ADD"), 0)
        assert not throttle.admits(row("x"), 1)
        twin = throttle.copy()
        throttle.clear()
        assert throttle.next_due_ns() is None
        assert len(twin.release(S)) == 1
