from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.conflation import conflated
from streamgauge.gateway.protocol.events import Event, Mark

from ...core.properties import untimed

ROOMY = 10**9


def plain(*names: str) -> deque[Event | Mark]:
    return deque(Event({"n": name}) for name in names)


def rows(*events: tuple[str, str]) -> deque[Event | Mark]:
    return deque(
        Event({"key": key, "command": command, "n": str(n)}) for n, (key, command) in enumerate(events)
    )


def names(queue: deque[Event | Mark]) -> list[str | None]:
    return [entry.values["n"] if isinstance(entry, Event) else entry.line.decode() for entry in queue]


def test_of_a_merge_item_the_newest_stays() -> None:
    stay, lost = conflated(plain("a", "b", "c"), "MERGE", filtered=True, kept=1, room_bytes=0)
    assert (names(stay), lost) == (["c"], 0)


def test_of_a_distinct_item_the_newest_stay_as_many_as_the_client_wants() -> None:
    stay, lost = conflated(plain("a", "b", "c"), "DISTINCT", filtered=True, kept=2, room_bytes=ROOMY)
    assert (names(stay), lost) == (["b", "c"], 0)
    stay, lost = conflated(plain("a", "b", "c"), "DISTINCT", filtered=True, kept=None, room_bytes=0)
    assert (names(stay), lost) == (["c"], 0)


def test_what_must_not_be_left_out_in_silence_is_counted() -> None:
    for mode in ("RAW", "MERGE", "DISTINCT", "COMMAND"):
        stay, lost = conflated(plain("a", "b", "c"), mode, filtered=False, kept=1, room_bytes=450)
        assert (names(stay), lost) == (["b", "c"], 1)


def test_marks_stay_in_their_place() -> None:
    queue = deque([*plain("a", "b"), Mark(b"EOS"), *plain("c")])
    stay, lost = conflated(queue, "DISTINCT", filtered=False, kept=None, room_bytes=0)
    assert (names(stay), lost) == (["EOS", "c"], 2)


def test_rows_become_what_their_events_amount_to() -> None:
    queue = rows(
        *[("new", "ADD"), ("new", "UPDATE"), ("known", "UPDATE"), ("known", "UPDATE"), ("gone", "UPDATE")],
        *[("gone", "DELETE"), ("brief", "ADD"), ("brief", "DELETE"), ("back", "DELETE"), ("back", "ADD")],
    )
    stay, lost = conflated(queue, "COMMAND", filtered=True, kept=None, room_bytes=ROOMY)
    found = {entry.values["key"]: (entry.values["command"], entry.values["n"]) for entry in stay}  # type: ignore[union-attr]
    assert found == {
        "new": ("ADD", "1"),
        "known": ("UPDATE", "3"),
        "gone": ("DELETE", "5"),
        "back": ("UPDATE", "9"),
    }
    assert lost == 0


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.booleans()), max_size=25),
    st.sets(st.sampled_from("xyz")),
    st.one_of(st.none(), st.integers(0, 25)),
)
@untimed
def test_a_table_looks_the_same_with_and_without_conflation(
    changes: list[tuple[str, bool]], known: set[str], mark_at: int | None
) -> None:
    table = dict.fromkeys(known, "old")
    events = []
    for key, deletes in changes:
        if deletes and key in table:
            events.append((key, "DELETE"))
            del table[key]
        elif not deletes:
            events.append((key, "UPDATE" if key in table else "ADD"))
            table[key] = ""
    queue = rows(*events)
    if mark_at is not None:
        queue.insert(min(mark_at, len(queue)), Mark(b"EOS"))
    stay, lost = conflated(queue.copy(), "COMMAND", filtered=True, kept=None, room_bytes=ROOMY)
    assert lost == 0
    assert len(stay) <= len(queue)
    assert applied(known, stay) == applied(known, queue)


def applied(known: set[str], queue: deque[Event | Mark]) -> dict[str, str | None]:
    """The client's table afterwards; it must never be told of a row in a way that does not fit."""
    table: dict[str, str | None] = dict.fromkeys(known, "old")
    for entry in queue:
        if isinstance(entry, Event):
            key, command = entry.values["key"] or "", entry.values["command"]
            assert (key in table) == (command != "ADD")
            if command == "DELETE":
                del table[key]
            else:
                table[key] = entry.values["n"]
    return table
