"""Requests of clients, carried out. What is answered goes back on the connection that asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import parse_qs

from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.protocol.codes import ControlCode, SessionCode
from streamgauge.gateway.protocol.command_reading import command
from streamgauge.gateway.protocol.commands import (
    BindSession,
    CheckWebSocket,
    Command,
    ControlCommand,
    CreateSession,
    Heartbeat,
    Subscribe,
)
from streamgauge.gateway.protocol.requests import BadRequest, RequestLine, http_requests
from streamgauge.gateway.protocol.versions import Version, version_named
from streamgauge.gateway.server.admission import Admission
from streamgauge.gateway.server.contract import NotAuthorized
from streamgauge.gateway.server.control import Control, Outcome, Refused
from streamgauge.gateway.server.gateway import Gateway
from streamgauge.gateway.server.links import Link
from streamgauge.gateway.server.session_opening import NotOpened, SessionOpening

LOGGER = logging.getLogger("streamgauge.gateway")
SESSION_REQUESTS = ("create_session", "bind_session")
_INTERNAL = "something went wrong inside the server"

Requests = Sequence[RequestLine | BadRequest]
Opened = Callable[[bool, Requests], None]
"""Told whether a session is open now, and what its client has asked for while that was found out."""


class Reception:
    """For all connections of a process."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._control = Control(gateway)
        self._opening = SessionOpening(gateway)
        self.admission = Admission(gateway.settings.limits.password_checks_waiting)
        self._held: dict[Link, list[RequestLine | BadRequest]] = {}
        """What links have asked for since they asked for what has to wait: a password that is being checked,
        a source that is not ready."""
        self._cost = 0

    def collect_cost(self) -> int:
        """What requests have cost since this was asked last, in plain requests: whoever has just made
        them is charged."""
        cost, self._cost, self._control.cost = self._cost + self._control.cost, 0, 0
        return cost

    def on_websocket(self, link: Link, requests: Requests, go_on: Callable[[Requests], None]) -> None:
        """Answer some requests of a message. `go_on`: called with those that had to wait for another one,
        when that has been answered."""
        self._answer(link, requests, go_on)
        self.gateway.delivery.schedule()

    def read_control(self, request: RequestLine | BadRequest) -> Command | bytes:
        """What a request by HTTP asks for, or the answer that says why that cannot be read."""
        return self._read(request)

    def has_to_wait(self, wanted: Command | bytes, ready: Callable[[], None]) -> bool:
        """Whether what was asked for by HTTP cannot be carried out yet; `ready` is called when it can."""
        return isinstance(wanted, Subscribe) and not self._control.is_prepared(wanted, wanted.session, ready)

    def answer_by_http(self, wanted: Command | bytes) -> bytes:
        """Carry out what was asked for."""
        match wanted:
            case bytes():
                return wanted
            case Heartbeat():
                self._control.alive(wanted.session)
                return notifications.REQOK
            case CreateSession() | BindSession() | CheckWebSocket():
                return notifications.request_error(None, ControlCode.MALFORMED, "not possible here")
        outcome = self._carry_out(wanted, wanted.session, by_websocket=False)
        if outcome.then is not None:
            outcome.then()
        self.gateway.delivery.schedule()
        return b"".join(outcome.lines)

    def read_http(
        self, name: str, query: str, body: bytes
    ) -> tuple[Version, Iterator[RequestLine | BadRequest]] | bytes:
        """What a POST asks for (at least one request), or the answer that says why it cannot be read."""
        is_session_request = name in SESSION_REQUESTS
        version = version_named(parse_qs(query).get("LS_protocol", [""])[0])
        code, message = SessionCode.MALFORMED, "the request is not UTF-8"
        try:
            requests = http_requests(name, query, body.decode())
            if version is not None:
                return version, requests
            code, message = SessionCode.VERSION, "LS_protocol must be TLCP-2.0.0 up to TLCP-2.5.0"
        except UnicodeDecodeError:
            pass
        self.gateway.counters.requests_refused += 1
        if is_session_request:
            return notifications.connection_error(code, message)
        return notifications.request_error(None, ControlCode.MALFORMED, message)

    def session_request(self, line: RequestLine | BadRequest) -> CreateSession | BindSession | bytes:
        """What a POST to create or bind a session asks for, or the answer that says why it cannot be."""
        wanted = self._read(line)
        if isinstance(wanted, bytes | CreateSession | BindSession):
            return wanted
        return notifications.connection_error(SessionCode.MALFORMED, "not possible here")

    def open_by_http(self, link: Link, wanted: CreateSession | BindSession) -> None:
        self._open(link, wanted, lambda is_open, _: None if is_open else link.end(close=False))
        self.gateway.delivery.schedule()

    def _answer(self, link: Link, requests: Requests, go_on: Callable[[Requests], None]) -> None:
        for at, line in enumerate(requests):
            if link in self._held:
                self._hold(link, requests[at:])
                break
            wanted = self._read(line)
            match wanted:
                case bytes():
                    link.send(wanted)
                case CreateSession() | BindSession():
                    self._open(link, wanted, lambda _, held: self._read_on(link, held, go_on))
                case CheckWebSocket():
                    link.send(notifications.WSOK)
                case Heartbeat():
                    self._control.alive(wanted.session or link.last_session)
                case Subscribe() if not self._is_prepared(link, wanted, go_on):
                    self._held[link] = []
                case _:
                    self._reply(link, wanted, wanted.session or link.last_session)

    def _is_prepared(self, link: Link, wanted: Subscribe, go_on: Callable[[Requests], None]) -> bool:
        """Whether a subscription may be told to be there; else that is done later, and all waits that is
        asked for meanwhile."""
        session = wanted.session or link.last_session

        def ready() -> None:
            held = self._held.pop(link)
            if not link.is_gone:
                self._reply(link, wanted, session)
                self._read_on(link, held, go_on)
                self.gateway.delivery.schedule()

        return self._control.is_prepared(wanted, session, ready)

    def _reply(self, link: Link, wanted: ControlCommand, session_id: str | None) -> None:
        outcome = self._carry_out(wanted, session_id, by_websocket=True)
        link.send(b"".join(outcome.lines))
        if outcome.then is not None:
            outcome.then()

    def _open(self, link: Link, wanted: CreateSession | BindSession, opened: Opened) -> None:
        try:
            if isinstance(wanted, CreateSession):
                check = self._opening.admit(link, wanted)
                if check is not None:
                    self.admission.ask(check, lambda refusal: self._checked(link, wanted, refusal, opened))
                    self.gateway.counters.password_checks += 1
                    self._held[link] = []
                    return
                session = self._opening.create(link, wanted)
            else:
                session = self._opening.bind(link, wanted, wanted.session or link.last_session)
        except NotAuthorized as error:
            self._not_opened(link, self._opening.refused(error))
        except Exception as error:
            self._not_opened(link, error)
        else:
            link.last_session = session.id
            opened(True, [])
            return
        opened(False, [])

    def _checked(
        self, link: Link, wanted: CreateSession, refusal: NotAuthorized | None, opened: Opened
    ) -> None:
        """A password has been looked at; its client may have gone meanwhile."""
        held = self._held.pop(link)
        if link.is_gone:
            return
        try:
            if refusal is not None:
                raise self._opening.refused(refusal)
            link.last_session = self._opening.create(link, wanted).id
        except Exception as error:
            self._not_opened(link, error)
            opened(False, held)
        else:
            opened(True, held)
        self.gateway.delivery.schedule()

    def _not_opened(self, link: Link, error: Exception) -> None:
        code, message = SessionCode.INTERNAL, _INTERNAL
        if isinstance(error, NotOpened):
            code, message = error.code, error.message
        else:
            LOGGER.error("a session could not be opened", exc_info=error)
        self.gateway.counters.requests_refused += 1
        link.send(notifications.connection_error(code, message))

    def _hold(self, link: Link, requests: Requests) -> None:
        """Let requests wait, and read no more of them: whatever else has come stays with its connection."""
        self._held[link] += requests
        link.account.hold()

    @staticmethod
    def _read_on(link: Link, held: Requests, go_on: Callable[[Requests], None]) -> None:
        if held:
            link.account.release()
            go_on(held)

    def _carry_out(self, wanted: ControlCommand, session_id: str | None, *, by_websocket: bool) -> Outcome:
        try:
            return self._control.carry_out(wanted, session_id, by_websocket=by_websocket)
        except Refused as error:
            code, message = error.code, error.message
        except Exception:
            LOGGER.exception("a request could not be carried out")
            code, message = ControlCode.INTERNAL, _INTERNAL
        self.gateway.counters.requests_refused += 1
        return Outcome([notifications.request_error(wanted.request_id, code, message)])

    def _read(self, line: RequestLine | BadRequest) -> Command | bytes:
        """The command, or the line that says why there is none."""
        self.gateway.counters.requests += 1
        self._cost += 1
        if isinstance(line, BadRequest):
            return self._bad(line)
        try:
            return command(line)
        except BadRequest as error:
            # By no other name: an error holds the frame that it passed, which would hold it, until Python
            # looks for such circles, with everybody waiting.
            return self._bad(error)

    def _bad(self, bad: BadRequest) -> bytes:
        self.gateway.counters.requests_refused += 1
        if bad.name in SESSION_REQUESTS:
            return notifications.connection_error(bad.code, bad.message)
        return notifications.request_error(bad.request_id, bad.code, bad.message)
