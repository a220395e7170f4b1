"""How many connections there may be, and who makes room when there are no more.

A process may have only so many files open, and a connection that says nothing costs whoever opens it nothing.
So when all places are taken, the oldest connection without a session goes, from the address that has most of
those. Who has come to stay opens a session at once; and connections that carry one are never sent away.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

from streamgauge.gateway.server.accounts import Account

_OTHER_FILES = 200
"""Of the process: its port, Kafka's connections, logs, and connections that are about to close."""


class Crowd:
    """Of one process. `most`: None for as many as there can be open files."""

    def __init__(self, most: int | None) -> None:
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        can_be = max(files - _OTHER_FILES, files // 2)
        self._most = can_be if most is None else min(most, can_be)
        self._open: set[Account] = set()
        self._strangers: dict[str, dict[Account, None]] = {}
        """Without a session, oldest first, by network."""

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Account]:
        return iter(self._open)

    @property
    def strangers(self) -> int:
        return sum(map(len, self._strangers.values()))

    def came(self, account: Account) -> Account | None:
        """A connection has come; who has to go for it."""
        self._open.add(account)
        self._strangers.setdefault(account.network, {})[account] = None
        if len(self._open) <= self._most:
            return None
        # Itself, where all others have a session.
        most = max(self._strangers.values(), key=len)
        return next(iter(most))

    def settled(self, account: Account) -> None:
        """It carries a session now."""
        there = self._strangers.get(account.network)
        if there is not None and there.pop(account, True) is None and not there:
            del self._strangers[account.network]

    def unsettled(self, account: Account) -> None:
        """It carries none any more."""
        if account in self._open:
            self._strangers.setdefault(account.network, {})[account] = None

    def left(self, account: Account) -> None:
        self._open.discard(account)
        self.settled(account)
