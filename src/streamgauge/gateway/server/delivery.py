"""From streams to sockets: who is sent what and when, and who shares a cohort with whom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

from streamgauge.gateway.protocol.ring import RecoveryRoom
from streamgauge.gateway.protocol.streams import Touched
from streamgauge.gateway.protocol.subscriptions import Plan
from streamgauge.gateway.server.alarms import Alarms
from streamgauge.gateway.server.cohorts import Cohorts
from streamgauge.gateway.server.links import HttpLink
from streamgauge.gateway.server.metrics import Counters
from streamgauge.gateway.server.sending import send_to_all
from streamgauge.gateway.server.sessions import Cohort, Session
from streamgauge.gateway.server.settings import ServerSettings
from streamgauge.gateway.server.turns import Turns

_DRAIN_BYTES = 32_768
_LONG_S = 0.001


class Delivery:
    """`ended`: told of plans that a stream follows no more. `turn_over`: told of sessions whose link has
    carried all it may, or has got what a poll asked for."""

    def __init__(
        self,
        settings: ServerSettings,
        counters: Counters,
        turns: Turns,
        *,
        ended: Callable[[Iterable[Plan]], None],
        turn_over: Callable[[Session], None],
    ) -> None:
        self._max_delay_s = settings.max_delay_millis / 1000
        self._counters, self._ended, self._turn_over = counters, ended, turn_over
        self._loop = asyncio.get_running_loop()
        self._touched = Touched(settings.limits.burst_bytes, settings.limits.recovery_bytes_of_all)
        self._is_scheduled = False
        self._alarms = Alarms(self._look)
        self.cohorts = Cohorts(settings.limits, turns, self._touched, ended)

    @property
    def recovery_room(self) -> RecoveryRoom:
        return self._touched.room

    def schedule(self) -> None:
        """Something may have been touched: send it soon, together with what else comes until then."""
        if self._touched.is_full:
            self.flush()
        elif self._touched and not self._is_scheduled:
            self._is_scheduled = True
            if self._max_delay_s:
                self._loop.call_later(self._max_delay_s, self.flush)
            else:
                self._loop.call_soon(self.flush)

    def flush(self) -> None:
        # What has been called for and comes later finds little to do.
        self._is_scheduled = False
        begun_s = time.monotonic()
        while self._touched:
            batch = list(self._touched)
            self._touched.clear()
            for stream in batch:
                stream.untouch()
                assert isinstance(stream, Cohort)
                if stream in self.cohorts:
                    self.flush_one(stream)
        if time.monotonic() - begun_s > _LONG_S:
            # libuv reckons how long it may sleep from the time when this turn of its loop began, and would
            # wake up late by as much as we took; it looks at the clock anew when a timer is set.
            self._loop.call_later(0, _nothing)

    def flush_one(self, cohort: Cohort) -> None:
        due_ns = cohort.next_due_ns()
        if due_ns is not None:
            self._alarms.arm(cohort, due_ns)
        first = cohort.members[0]
        if first.budget is not None or first.is_polling:
            self._send_within_bounds(first)
        elif not cohort.is_blocked:
            if cohort.has_more:
                self._broadcast(cohort, cohort.take())
            self.cohorts.settle(cohort)

    def split(self, session: Session) -> Cohort:
        """Have a session alone in its cohort, for what it is to do alone."""
        cohort = session.cohort
        if len(cohort.members) > 1 and cohort.has_more:
            self.flush_one(cohort)
        return self.cohorts.part(session)

    def catch_up(self, session: Session) -> None:
        """Send what was to be sent soon, as what follows ends the connection's turn."""
        cohort = self.split(session)
        link = session.link
        if link is not None and cohort.has_more and not cohort.is_blocked:
            self._send(session, cohort.take())

    def bound(self, session: Session) -> None:
        """A session, alone in its cohort, has a link."""
        cohort = session.cohort
        assert session.link is not None
        cohort.sockets = [session.link.socket]
        cohort.last_write_ns = time.monotonic_ns()
        cohort.behind_since_ns = None
        if session.budget is None and not session.is_polling:
            cohort.conflates_at_once = False
            cohort.unblock()
        else:
            cohort.conflates_at_once = session.budget is not None
            cohort.block()
        cohort.touch()
        self.schedule()

    def unbound(self, session: Session) -> None:
        """A session has lost its link; what comes waits for the next."""
        cohort = self.split(session)
        cohort.sockets = [-1]
        cohort.behind_since_ns = None
        cohort.block()

    def unsubscribe_all(self, cohort: Cohort, sub_ids: list[int]) -> None:
        """Take subscriptions from all members at once."""
        self.cohorts.unlist(cohort)
        self._ended([cohort.unsubscribe(sub_id) for sub_id in sub_ids])
        self.schedule()

    def socket_filled(self, session: Session) -> None:
        """A session's socket takes no more for now: let its updates wait, and others go on."""
        cohort = self.split(session)
        if not cohort.is_blocked:
            cohort.block()
            self._counters.fallen_behind += 1
        if cohort.behind_since_ns is None:
            cohort.behind_since_ns = time.monotonic_ns()

    def socket_drained(self, session: Session) -> None:
        """What waited in the process has gone to the socket: send what waited for that."""
        cohort, link = session.cohort, session.link
        if link is None or not link.is_clear:
            return
        cohort.behind_since_ns = None
        if session.budget is not None or session.is_polling:
            self._send_within_bounds(session)
            return
        while link.is_clear and cohort.has_more:
            self._send(session, cohort.take(_DRAIN_BYTES))
        if link.is_clear and session.link is link:
            cohort.unblock()
            self.cohorts.settle(cohort)

    def _broadcast(self, cohort: Cohort, lines: list[bytes]) -> None:
        frames = cohort.frames(lines)
        size = self._count(cohort, lines, frames)
        if cohort.sockets[0] >= 0:
            for index, frame in enumerate(frames):
                late = send_to_all(cohort.sockets, frame)
                if late:
                    rest = frames[index + 1 :]
                    for session, sent in [(cohort.members[at], sent) for at, sent in late]:
                        self._fall_behind(session, [frame[sent:], *rest])
                    if cohort.is_blocked:
                        # There was only one member, who has the rest already.
                        break
        else:
            for session in tuple(cohort.members):
                assert session.link is not None
                for frame in frames:
                    session.link.write(frame)
        if cohort.members and isinstance(cohort.members[0].link, HttpLink):
            self._count_content(cohort.members, size)

    def _send(self, session: Session, lines: list[bytes]) -> None:
        """To the one member of a cohort."""
        link, cohort = session.link, session.cohort
        assert link is not None
        if not lines:
            return
        frames = cohort.frames(lines)
        size = self._count(cohort, lines, frames)
        for frame in frames:
            link.write(frame)
        if isinstance(link, HttpLink):
            self._count_content([session], size)

    def _count(self, cohort: Cohort, lines: list[bytes], frames: list[bytes]) -> int:
        """Frames are about to be sent to all members; their size."""
        counters, members = self._counters, len(cohort.members)
        size = sum(map(len, frames))
        cohort.last_write_ns = time.monotonic_ns()
        counters.frames_built += len(frames)
        counters.frames += len(frames) * members
        counters.notifications += len(lines) * members
        counters.sent_bytes += size * members
        # Only who is alone can have lost something.
        counters.events_lost += cohort.lost
        cohort.lost = 0
        return size

    def _count_content(self, sessions: list[Session], size: int) -> None:
        """An HTTP answer has a length that its client has set: before that is reached, it must come anew."""
        for session in list(sessions):
            if isinstance(session.link, HttpLink):
                session.link.left_bytes -= size
                if session.link.left_bytes <= 0 and not session.is_polling:
                    self._turn_over(session)

    def _fall_behind(self, session: Session, rest: list[bytes]) -> None:
        self.socket_filled(session)
        link = session.link
        if link is None or link.transport.is_closing():
            return
        for data in rest:
            link.hold(data)
        if link.is_clear:
            # It had room again; nobody else is going to tell.
            self._loop.call_soon(self.socket_drained, session)

    def _send_within_bounds(self, session: Session) -> None:
        """For who has a bandwidth, or polls: what there is room for, when there is something."""
        link, cohort = session.link, session.cohort
        if link is None or not link.is_clear or not cohort.has_more:
            return
        if session.budget is None:
            self._send(session, cohort.take())
        else:
            now_ns = time.monotonic_ns()
            room = session.budget.room_bytes(now_ns)
            if room > 0:
                lines = cohort.take(room)
                session.budget.spend(sum(map(len, lines)))
                self._send(session, lines)
            if cohort.has_more:
                self._alarms.arm(cohort, session.budget.free_at_ns())
        if session.is_polling and session.link is link:
            self._turn_over(session)

    def _look(self, cohorts: list[Cohort], now_ns: int) -> None:
        """Something in these has waited long enough; what still waits is armed again in `flush`."""
        for cohort in cohorts:
            if cohort in self.cohorts:
                cohort.release(now_ns)
                cohort.touch()
        self.flush()


def _nothing() -> None:
    pass
