"""How sessions begin, and how they go on after their connection has ended or broken."""

from __future__ import annotations

import asyncio
import time

from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.protocol.codes import SessionCode
from streamgauge.gateway.protocol.commands import Binding, BindSession, CreateSession
from streamgauge.gateway.protocol.sessions import NotRecoverable
from streamgauge.gateway.server.contract import AdapterSet, NotAuthorized, SlowCheck
from streamgauge.gateway.server.gateway import Gateway
from streamgauge.gateway.server.links import Link
from streamgauge.gateway.server.origins import is_loopback
from streamgauge.gateway.server.sessions import Budget, Session
from streamgauge.gateway.server.settings import SESSIONS_PER_ADDRESS


class NotOpened(Exception):
    """Told as CONERR."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class SessionOpening:
    """What is raised is NotOpened."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def admit(self, link: Link, wanted: CreateSession) -> SlowCheck | None:
        """Whether a session may be created: at once, or when the check that is returned holds."""
        adapter_set = self._adapter_set(link, wanted)
        self._check_room(link, wanted)
        if adapter_set.authenticator is None:
            return None
        try:
            return adapter_set.authenticator.authenticate(wanted.user, wanted.password, link.address)
        except NotAuthorized as error:
            raise self.refused(error) from None

    def refused(self, error: NotAuthorized) -> NotOpened:
        self._gateway.counters.sessions_refused += 1
        return NotOpened(error.code, error.message)

    def create(self, link: Link, wanted: CreateSession) -> Session:
        """For one who was admitted; others may have come meanwhile."""
        adapter_set = self._adapter_set(link, wanted)
        self._check_room(link, wanted)
        replaced = self._replaced(link, wanted)
        if replaced is not None:
            self._gateway.drop(replaced)
        session = self._gateway.open(link, adapter_set)
        session.user, session.diffs = wanted.user, wanted.diffs
        if wanted.bandwidth_kbps is not None:
            session.budget = Budget(wanted.bandwidth_kbps, time.monotonic_ns())
        session.silent = wanted.binding.reduces_head
        self._bind(session, link, wanted.binding, [])
        return session

    def bind(self, link: Link, wanted: BindSession, session_id: str | None) -> Session:
        session = self._gateway.sessions.get(session_id or "")
        if session is None:
            raise NotOpened(SessionCode.NO_SESSION, "there is no such session")
        if link.session is not None and link.session is not session:
            raise NotOpened(SessionCode.ALREADY_STREAMING, "another session is bound to this connection")
        self._detach(session, link)
        recovered: list[bytes] = []
        if wanted.recovery_from is not None:
            recovered = self._recovered(session, wanted.recovery_from)
        self._bind(session, link, wanted.binding, recovered)
        return session

    def _adapter_set(self, link: Link, wanted: CreateSession) -> AdapterSet:
        if link.session is not None:
            raise NotOpened(SessionCode.ALREADY_STREAMING, "a session is bound to this connection")
        adapter_set = self._gateway.adapter_sets.get(wanted.adapter_set)
        if adapter_set is None:
            raise NotOpened(SessionCode.NO_ADAPTER_SET, "there is no such adapter set")
        return adapter_set

    def _replaced(self, link: Link, wanted: CreateSession) -> Session | None:
        """The session that its client has given up for this one; only its own user may say so."""
        old = self._gateway.sessions.get(wanted.old_session or "")
        if old is None or (old.address, old.user) != (link.address, wanted.user):
            return None
        return old if old.adapter_set.name == wanted.adapter_set else None

    def _check_room(self, link: Link, wanted: CreateSession) -> None:
        gateway, limits = self._gateway, self._gateway.settings.limits
        gone = 0 if self._replaced(link, wanted) is None else 1
        most, whose = limits.sessions_per_address, ""
        if most is None and not is_loopback(link.address):
            most = SESSIONS_PER_ADDRESS
        if most is not None and gateway.holdings.sessions_of(link.address) - gone >= most:
            whose = " from your address"
        elif len(gateway.sessions) - gone < limits.sessions:
            return
        gateway.counters.sessions_refused += 1
        raise NotOpened(SessionCode.TOO_MANY_SESSIONS, f"as many sessions are open{whose} as may be")

    def _detach(self, session: Session, link: Link) -> None:
        """Whoever binds a session takes it from the connection that has it."""
        old = session.link
        if old is not None:
            self._gateway.unbind(session, self._gateway.settings.session_recovery)
            if old is not link:
                old.abort()

    def _recovered(self, session: Session, count: int) -> list[bytes]:
        """What a client has missed, after the line that says from where on."""
        try:
            lines = session.progress.lines_after(count)
        except NotRecoverable:
            self._gateway.counters.recoveries_refused += 1
            self._gateway.drop(session)
            raise NotOpened(SessionCode.NOT_RECOVERABLE, "what was sent since is not held any more") from None
        self._gateway.counters.recoveries += 1
        return [notifications.progress(count), *lines]

    def _bind(self, session: Session, link: Link, binding: Binding, recovered: list[bytes]) -> None:
        polling = binding.polling
        session.binding = binding
        session.keepalive_ms = binding.keepalive_ms or self._gateway.settings.keepalive_millis
        idle_ms = 0 if polling is None else polling.idle_ms
        head = self._head(session, link, session.keepalive_ms if polling is None else idle_ms)
        link.send(b"".join([*head, *recovered]))
        self._gateway.bind(session, link)
        if polling is not None:
            self._poll(session, link, idle_ms)

    def _head(self, session: Session, link: Link, keepalive_ms: int) -> list[bytes]:
        binding, settings = session.binding, self._gateway.settings
        assert binding is not None
        limit = settings.limits.request_bytes
        is_new = session.progress.count == 0 and session.bound_ns == 0
        lines = []
        if is_new or not binding.reduces_head:
            lines.append(notifications.connection_ok(session.id, limit, keepalive_ms, None))
        if not binding.reduces_head:
            lines.append(notifications.server_name(settings.server_name))
            lines.append(notifications.client_address(link.address))
        if not session.silent:
            lines.append(notifications.constraints(None if session.budget is None else session.budget.kbps))
        return lines

    def _poll(self, session: Session, link: Link, idle_ms: int) -> None:
        """Answer with what is there, or wait for something."""
        self._gateway.delivery.flush_one(session.cohort)
        if session.link is not link:
            return
        if idle_ms:
            asyncio.get_running_loop().call_later(idle_ms / 1000, self._end_poll, session, link)
        else:
            self._end_poll(session, link)

    def _end_poll(self, session: Session, link: Link) -> None:
        if session.link is link:
            self._gateway.turn_over(session)
