"""A source that lives in the test: what it is told to publish, it publishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamgauge.gateway.server.contract import MODES, Listener, SourceCounters, UnknownItem


class MemorySource:
    """Any item but those that begin with "no-"; fields are not known beforehand unless given."""

    has_to_prepare = False
    """Whether subscriptions wait until those in `waiting` are called."""

    def __init__(
        self, fields: tuple[str, ...] = (), *, modes: frozenset[str] = MODES, snapshot: bool = False
    ) -> None:
        self._fields, self._modes, self._snapshot = fields, modes, snapshot
        self.subscribed: list[str] = []
        self.counters = SourceCounters()
        self.closed = False
        self.waiting: list[Callable[[], None]] = []

    def start(self, listener: Listener) -> None:
        self.listener = listener

    def prepare(self, items: Sequence[str], ready: Callable[[], None]) -> bool:
        if not self.has_to_prepare:
            return True
        self.waiting.append(ready)
        return False

    def subscribe(self, item: str) -> None:
        if item.startswith("no-"):
            raise UnknownItem(-7, f"{item}, of all things, cannot be had")
        if item.startswith("bug-"):
            raise RuntimeError("a bug in a source")
        self.subscribed.append(item)

    def unsubscribe(self, item: str) -> None:
        self.subscribed.remove(item)

    def schema(self, item: str) -> tuple[str, ...]:
        return self._fields

    def modes(self, item: str) -> frozenset[str]:
        return self._modes

    def snapshot_available(self, item: str) -> bool:
        return self._snapshot

    def close(self) -> None:
        self.closed = True
