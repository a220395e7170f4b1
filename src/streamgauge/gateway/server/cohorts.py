"""All cohorts of a process: who joins whom, and who goes alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from streamgauge.gateway.protocol.streams import Touched
from streamgauge.gateway.protocol.subscriptions import Plan
from streamgauge.gateway.server.sessions import Cohort, Key, Session
from streamgauge.gateway.server.settings import Limits
from streamgauge.gateway.server.turns import OURS, Turns


class Cohorts:
    """`ended`: told of plans that a stream follows no more."""

    def __init__(
        self, limits: Limits, turns: Turns, touched: Touched, ended: Callable[[Iterable[Plan]], None]
    ) -> None:
        self._limits, self._turns, self._touched, self._ended = limits, turns, touched, ended
        self._shared: dict[Key, Cohort] = {}
        self._all: dict[Cohort, None] = {}
        self.moved: dict[Session, None] = {}
        """Those who remember the streams they came from, for as long as that is of use."""

    def __contains__(self, cohort: Cohort) -> bool:
        return cohort in self._all

    def __len__(self) -> int:
        return len(self._all)

    def all(self) -> list[Cohort]:
        return list(self._all)

    def new(self) -> Cohort:
        limits = self._limits
        cohort = Cohort(self._touched, limit_bytes=limits.backlog_bytes, recovery_bytes=limits.recovery_bytes)
        self._all[cohort] = None
        return cohort

    def part(self, session: Session) -> Cohort:
        """Have a session alone in its cohort, in which nothing must be waiting to be sent to others."""
        cohort = session.cohort
        if len(cohort.members) == 1:
            self.unlist(cohort)
            return cohort
        twin = cohort.fork()
        twin.last_write_ns = cohort.last_write_ns
        self._all[twin] = None
        self._move(session, twin)
        return twin

    def settle(self, cohort: Cohort) -> None:
        """Join those who stand at the same place, or be there for others to join."""
        first = cohort.members[0]
        if cohort.key is not None or cohort.is_blocked or not first.may_share:
            return
        assert first.link is not None
        key: Key = (first.link.kind, first.link.socket >= 0, first.keepalive_ms, cohort.kind())
        other = self._shared.get(key)
        if other is None:
            cohort.key, self._shared[key] = key, cohort
        elif cohort.stands_as(other):
            self._merge(cohort, other)

    def unlist(self, cohort: Cohort) -> None:
        """Let nobody join it any more."""
        if cohort.key is not None:
            del self._shared[cohort.key]
            cohort.key = None

    def leave(self, session: Session) -> None:
        """A session is no more."""
        self.moved.pop(session, None)
        cohort = session.cohort
        cohort.remove(session)
        if not cohort.members:
            self.unlist(cohort)
            self._dissolve(cohort)

    def _merge(self, cohort: Cohort, other: Cohort) -> None:
        """The fewer go to the more."""
        if len(cohort.members) > len(other.members):
            cohort.key, other.key = other.key, None
            assert cohort.key is not None
            self._shared[cohort.key] = cohort
            cohort, other = other, cohort
        # Who was written to longest ago decides when the next sign of life is due.
        other.last_write_ns = min(other.last_write_ns, cohort.last_write_ns)
        for session in list(cohort.members):
            self._move(session, other)
        self._dissolve(cohort)

    def _move(self, session: Session, cohort: Cohort) -> None:
        session.move(cohort, time.monotonic_ns())
        self.moved[session] = None

    def _dissolve(self, cohort: Cohort) -> None:
        """Nobody is in it any more. It may have followed thousands of items: they go one subscription after
        another."""
        del self._all[cohort]
        self._turns.carry_out(OURS, self._end(cohort))

    def _end(self, cohort: Cohort) -> Iterator[None]:
        for plan in cohort.closing():
            self._ended([plan])
            yield
