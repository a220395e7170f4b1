"""How many connections there may be, and who makes room when there are no more.

A process may have only so many files open, and a connection that says nothing costs whoever opens it nothing.
So when all places are taken, the oldest connection without a session goes, from the address that has most of
those. Who has come to stay opens a session at once; and connections that carry one are never sent away.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from streamgauge.gateway.server.budget import Reason

_OTHER_FILES = 200
"""Of the process: its port, Kafka's connections, logs, and connections that are about to close."""


class Visitor(Protocol):
    """A connection: of whom, and how to be rid of it."""

    network: str

    def drop(self, reason: Reason) -> None: ...


class Crowd:
    """Of one process. `most`: None for as many as there can be open files."""

    def __init__(self, most: int | None) -> None:
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        can_be = max(files - _OTHER_FILES, files // 2)
        self._most = can_be if most is None else min(most, can_be)
        self._open: set[Visitor] = set()
        self._strangers: dict[str, dict[Visitor, None]] = {}
        """Without a session, oldest first, by network."""

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Visitor]:
        return iter(self._open)

    @property
    def strangers(self) -> int:
        return sum(map(len, self._strangers.values()))

    def came(self, visitor: Visitor) -> Visitor | None:
        """A connection has come; who has to go for it."""
        self._open.add(visitor)
        self._strangers.setdefault(visitor.network, {})[visitor] = None
        if len(self._open) <= self._most:
            return None
        # Itself, where all others have a session.
        most = max(self._strangers.values(), key=len)
        return next(iter(most))

    def settled(self, visitor: Visitor) -> None:
        """It carries a session now."""
        there = self._strangers.get(visitor.network)
        if there is not None and there.pop(visitor, True) is None and not there:
            del self._strangers[visitor.network]

    def unsettled(self, visitor: Visitor) -> None:
        """It carries none any more."""
        if visitor in self._open:
            self._strangers.setdefault(visitor.network, {})[visitor] = None

    def left(self, visitor: Visitor) -> None:
        self._open.discard(visitor)
        self.settled(visitor)
