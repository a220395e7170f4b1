"""Items, one class for each mode: they turn what a source publishes into events, and remember what
somebody who comes later has to get first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Protocol

from streamgauge.gateway.protocol.commands import Mode
from streamgauge.gateway.protocol.events import Event

Fields = Mapping[str, str | None]
COMMANDS = frozenset({"ADD", "UPDATE", "DELETE"})


class Follower(Protocol):
    """Who gets the events of an item."""

    def offer(self, event: Event, now_ns: int) -> None: ...

    def snapshot_ended(self) -> None: ...

    def snapshot_cleared(self) -> None: ...


class Feed(ABC):
    """One item in one mode."""

    def __init__(self, *, snapshot_expected: bool) -> None:
        """`snapshot_expected`: the source is going to tell when its snapshot has ended."""
        self.followers: dict[Follower, None] = {}
        self.snapshot_complete = not snapshot_expected

    def publish(self, fields: Fields, now_ns: int) -> None:
        event = self._event(fields)
        if event is not None:
            for follower in self.followers:
                follower.offer(event, now_ns)

    def end_of_snapshot(self) -> None:
        if not self.snapshot_complete:
            self.snapshot_complete = True
            for follower in self.followers:
                follower.snapshot_ended()

    def clear(self, now_ns: int) -> None:
        """What was is void. Where there are lists, followers are told; else it is an event."""
        for follower in self.followers:
            follower.snapshot_cleared()

    @abstractmethod
    def snapshot(self, length: int | None) -> Iterable[Event]:
        """What a newcomer gets first; `length`: how many at most, where that makes sense."""

    @abstractmethod
    def _event(self, fields: Fields) -> Event | None:
        """None: nothing that anybody has to know."""


class MergeFeed(Feed):
    """A row: what is published changes it."""

    def __init__(self, *, snapshot_expected: bool) -> None:
        super().__init__(snapshot_expected=snapshot_expected)
        self._latest: Event | None = None

    def snapshot(self, length: int | None) -> Iterable[Event]:
        return () if self._latest is None else (self._latest,)

    def clear(self, now_ns: int) -> None:
        if self._latest is not None:
            self.publish(dict.fromkeys(self._latest.values), now_ns)

    def _event(self, fields: Fields) -> Event:
        # Copied only if the source leaves fields out.
        if self._latest is not None and not self._latest.values.keys() <= fields.keys():
            fields = {**self._latest.values, **fields}
        self._latest = Event(fields)
        return self._latest


class RawFeed(Feed):
    """Events as they come, nothing remembered."""

    def snapshot(self, length: int | None) -> Iterable[Event]:
        return ()

    def clear(self, now_ns: int) -> None:
        """There is nothing that could be void."""

    def _event(self, fields: Fields) -> Event:
        return Event(fields)


class DistinctFeed(Feed):
    """A list that grows: the newest events are remembered."""

    def __init__(self, *, snapshot_expected: bool, remembered: int) -> None:
        super().__init__(snapshot_expected=snapshot_expected)
        self._recent: deque[Event] = deque(maxlen=remembered)

    def snapshot(self, length: int | None) -> Iterable[Event]:
        events = list(self._recent)
        return events if length is None else events[-length:]

    def clear(self, now_ns: int) -> None:
        self._recent.clear()
        super().clear(now_ns)

    def _event(self, fields: Fields) -> Event:
        event = Event(fields)
        self._recent.append(event)
        return event


class CommandFeed(Feed):
    """A table: rows by key."""

    def __init__(self, *, snapshot_expected: bool) -> None:
        super().__init__(snapshot_expected=snapshot_expected)
        self._rows: dict[str, Event] = {}

    def snapshot(self, length: int | None) -> Iterable[Event]:
        for key, row in self._rows.items():
            # Newcomers get rows as additions, whatever happened to them last.
            if row.values["command"] != "ADD":
                self._rows[key] = row.with_command("ADD")
        return list(self._rows.values())

    def clear(self, now_ns: int) -> None:
        self._rows.clear()
        super().clear(now_ns)

    def _event(self, fields: Fields) -> Event | None:
        key, command = fields.get("key"), fields.get("command")
        if key is None or command not in COMMANDS:
            return None
        row = self._rows.get(key)
        if command == "DELETE":
            return None if self._rows.pop(key, None) is None else Event({"key": key, "command": "DELETE"})
        if row is None:
            event = Event({**fields, "command": "ADD"})
        else:
            event = Event({**row.values, **fields, "command": "UPDATE"})
        self._rows[key] = event
        return event


def new_feed(mode: Mode, *, snapshot_expected: bool, remembered: int) -> Feed:
    """`remembered`: how many events of a DISTINCT item newcomers can get."""
    match mode:
        case "MERGE":
            return MergeFeed(snapshot_expected=snapshot_expected)
        case "DISTINCT":
            return DistinctFeed(snapshot_expected=snapshot_expected, remembered=remembered)
        case "COMMAND":
            return CommandFeed(snapshot_expected=snapshot_expected)
        case "RAW":
            return RawFeed(snapshot_expected=snapshot_expected)
