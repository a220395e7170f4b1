"""What may be left out of a queue that has grown too long, by mode. Returns what stays, and how many
events were lost in a way the client must be told of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from streamgauge.gateway.protocol.commands import Mode
from streamgauge.gateway.protocol.events import Event, Mark

Queue = deque[Event | Mark]


def conflated(
    queue: Queue, mode: Mode, *, filtered: bool, kept: int | None, room_bytes: int
) -> tuple[Queue, int]:
    """`kept`: how many events of a DISTINCT item the client wants buffered; None: what there is room for."""
    if mode == "RAW" or not filtered:
        return _newest(queue, None, room_bytes)
    match mode:
        case "MERGE":
            # An event of a MERGE item holds everything that the ones before it brought.
            return deque([queue[-1]]), 0
        case "COMMAND":
            return _newest(_by_key(queue), None, room_bytes)
        case "DISTINCT":
            return _newest(queue, kept, room_bytes)[0], 0


def _newest(queue: Iterable[Event | Mark], kept: int | None, room_bytes: int) -> tuple[Queue, int]:
    """The newest events there is room for, at least one. Marks always stay: they cost nothing."""
    entries = list(queue)
    stay: Queue = deque()
    size, events, lost = 0, 0, 0
    for entry in reversed(entries):
        if isinstance(entry, Event):
            fits = not events or (size + entry.size_bytes <= room_bytes and (kept is None or events < kept))
            if lost or not fits:
                lost += 1
                continue
            size, events = size + entry.size_bytes, events + 1
        stay.appendleft(entry)
    return stay, lost


def _by_key(queue: Queue) -> Iterable[Event | Mark]:
    """One entry a key, with what its events amount to; marks keep their place."""
    stay: list[Event | Mark] = []
    rows: dict[str | None, tuple[bool, Event]] = {}
    for entry in queue:
        if isinstance(entry, Mark):
            stay += _amounts(rows)
            stay.append(entry)
            rows = {}
            continue
        key = entry.values.get("key")
        known = rows[key][0] if key in rows else entry.values.get("command") != "ADD"
        rows.pop(key, None)
        rows[key] = known, entry
    return stay + _amounts(rows)


def _amounts(rows: dict[str | None, tuple[bool, Event]]) -> list[Event | Mark]:
    """`known`: the client has the row from before."""
    stay: list[Event | Mark] = []
    for known, event in rows.values():
        command = event.values.get("command")
        if command == "DELETE":
            if known:
                stay.append(event)
        else:
            wanted = "UPDATE" if known else "ADD"
            stay.append(event if command == wanted else event.with_command(wanted))
    return stay
