"""What happens with time: signs of life, sessions nobody comes back to, connections that hang."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from streamgauge.core.clock import NS_PER_S
from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.sending import send_to_all
from streamgauge.gateway.server.sessions import Cohort
from streamgauge.gateway.server.turns import OURS

if TYPE_CHECKING:
    from streamgauge.gateway.server.server import PushServer

LOGGER = logging.getLogger("streamgauge.gateway")
_ROUND_S = 0.25
_SYNC_EVERY_S = 10.0
_WEBSOCKETS_EVERY_S = 1.0
"""There are thousands, nearly all with a session: to look at each took 6% of what it takes to send them 4
updates a second."""
_IDLE_S = 60.0
_PAST_KEPT_S = 30.0
"""How long lines of a stream that a session has left can be recovered."""
_HEARTBEAT_GRACE_S = 5.0
_NS_PER_MS = 1_000_000


class Housekeeping:
    """One round after another, for everything: a timer for each session would be too many."""

    def __init__(self, server: PushServer) -> None:
        self._server = server
        self._task: asyncio.Task[None] | None = None
        self._synced_s = self._looked_s = 0.0

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._go_round())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(_ROUND_S)
            try:
                self.round()
            except Exception:
                # The others must not suffer.
                LOGGER.exception("a round of housekeeping failed")

    def round(self) -> None:
        now_ns, now_s = time.monotonic_ns(), time.monotonic()
        self._probe(now_ns)
        self._server.gateway.budget.look(now_ns)
        turns = self._server.gateway.budget.turns
        turns.carry_out(OURS, chain(self._give_up_sessions(now_ns), self._drop_connections(now_s)))
        deadline_s = self._server.settings.limits.connect_deadline
        if now_s - self._looked_s >= min(_WEBSOCKETS_EVERY_S, deadline_s):
            self._looked_s = now_s
            turns.carry_out(OURS, self._drop_websockets(now_s, deadline_s))
        if now_s - self._synced_s >= _SYNC_EVERY_S:
            self._synced_s = now_s
            turns.carry_out(OURS, chain(self._sync(now_ns), self._forget_pasts(now_ns)))
        self._server.gateway.delivery.schedule()

    def _probe(self, now_ns: int) -> None:
        """A sign of life for all who were sent nothing for a while."""
        for cohort in self._server.gateway.delivery.cohorts.all():
            first = cohort.members[0]
            link = first.link
            if link is None or first.is_polling or not link.is_clear:
                continue
            due_ns = cohort.last_write_ns + first.keepalive_ms * _NS_PER_MS - int(_ROUND_S * NS_PER_S)
            if now_ns >= due_ns:
                cohort.last_write_ns = now_ns
                self._send_to_all(cohort, link.frame(notifications.PROBE))

    @staticmethod
    def _send_to_all(cohort: Cohort, frame: bytes) -> None:
        if cohort.sockets[0] >= 0 and not cohort.is_blocked:
            late = [(cohort.members[at], sent) for at, sent in send_to_all(cohort.sockets, frame)]
            for session, sent in late:
                if session.link is not None:
                    session.link.hold(frame[sent:])
        else:
            for session in tuple(cohort.members):
                if session.link is not None:
                    session.link.write(frame)

    def _give_up_sessions(self, now_ns: int) -> Iterator[None]:
        """One after another: hundreds may have come at the same time."""
        gateway = self._server.gateway
        for session in [each for each in gateway.unbound if each.deadline_ns <= now_ns]:
            # Somebody may have come back to it since.
            if session in gateway.unbound and session.deadline_ns <= now_ns:
                gateway.counters.sessions_lost += 1
                gateway.drop(session)
                yield

    def _drop_connections(self, now_s: float) -> Iterator[None]:
        limits = self._server.settings.limits
        for connection in list(self._server.connections):
            allowed_s = _IDLE_S if connection.is_idle else limits.connect_deadline
            if not connection.is_streaming and now_s - connection.since_s > allowed_s:
                connection.drop(Reason.IDLE if connection.is_idle else Reason.UNFINISHED)
                yield

    def _drop_websockets(self, now_s: float, deadline_s: float) -> Iterator[None]:
        for websocket in list(self._server.websockets):
            if websocket.link.session is None and now_s - websocket.since_s > deadline_s:
                websocket.drop(Reason.NO_SESSION)
                yield

    def _sync(self, now_ns: int) -> Iterator[None]:
        """Per session: how long it has been bound, for clients that measure whether they keep up; and
        whether clients that promised to say something from time to time have."""
        for session in list(self._server.gateway.sessions.values()):
            link, binding = session.link, session.binding
            if link is None or binding is None or not link.is_clear:
                continue
            if binding.sends_sync:
                link.send(notifications.sync((now_ns - session.bound_ns) // NS_PER_S))
            if binding.inactivity_ms:
                allowed_ns = binding.inactivity_ms * _NS_PER_MS + int(_HEARTBEAT_GRACE_S * NS_PER_S)
                if now_ns - session.last_request_ns > allowed_ns:
                    link.account.drop(Reason.SILENT)
            yield

    def _forget_pasts(self, now_ns: int) -> Iterator[None]:
        moved = self._server.gateway.delivery.cohorts.moved
        for session in list(moved):
            session.progress.forget(now_ns - int(_PAST_KEPT_S * NS_PER_S))
            if not session.progress.has_past:
                # It may have ended since.
                moved.pop(session, None)
            yield
