"""Connections of clients as they come: HTTP requests, of which some ask to become a WebSocket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from http import HTTPStatus
from itertools import chain
from typing import TYPE_CHECKING

from streamgauge.gateway.protocol.commands import BindSession, CreateSession
from streamgauge.gateway.protocol.requests import BadRequest, RequestLine
from streamgauge.gateway.protocol.versions import Version
from streamgauge.gateway.server import websocket_connections
from streamgauge.gateway.server.http_exchanges import HttpExchanges
from streamgauge.gateway.server.http_messages import BadHttp, Exchange, Head
from streamgauge.gateway.server.links import HttpLink
from streamgauge.gateway.server.reception import SESSION_REQUESTS
from streamgauge.gateway.server.websocket_handshake import PATH

if TYPE_CHECKING:
    from streamgauge.gateway.server.server import PushServer

_PREFIX, _SUFFIX = "/lightstreamer/", ".txt"
_CONTENT_BYTES = 4_000_000
"""Of a streaming answer whose client sets no length."""


class HttpConnection(HttpExchanges):
    """One client's connection, until it becomes a WebSocket or ends."""

    __slots__ = ("_is_upgraded", "_link", "_unread")

    def __init__(self, server: PushServer, received: bytes = b"", *, is_upgraded: bool = False) -> None:
        """`received`: what another process has read already of a connection that it hands over;
        `is_upgraded`: that has been made a WebSocket already."""
        super().__init__(server)
        self._is_upgraded, self._unread = is_upgraded, received
        self._link: HttpLink | None = None

    @property
    def is_streaming(self) -> bool:
        return self._link is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._unread:
            # Before anything is read from the socket itself.
            unread, self._unread = self._unread, b""
            self.take(unread)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        link, self._link = self._link, None
        if link is not None:
            self._server.gateway.broken(link)

    def pause_writing(self) -> None:
        if self._link is None:
            super().pause_writing()
            return
        self._link.filled()
        if self._link.session is not None:
            self._server.gateway.delivery.socket_filled(self._link.session)

    def resume_writing(self) -> None:
        if self._link is None:
            super().resume_writing()
            return
        self._link.drained()
        if self._link.session is not None:
            self._server.gateway.delivery.socket_drained(self._link.session)

    def _upgrade(self, exchange: Exchange) -> None:
        head = exchange.head
        if head.path.rstrip("/") != PATH:
            raise BadHttp(HTTPStatus.NOT_FOUND, "WebSockets are at /lightstreamer")
        self._check_origin(head)
        websocket_connections.take_over(
            self._server,
            self._account,
            head.headers,
            bytes(self._received[len(exchange.raw_head) :]),
            is_answered=self._is_upgraded,
        )
        self._server.connections.pop(self, None)

    def _respond(self, exchange: Exchange, body: bytes) -> None:
        head = exchange.head
        self._check_origin(head)
        if head.method == "OPTIONS":
            headers = self._server.origins.preflight_headers(head.headers.get("origin"))
            self._answered(exchange, exchange.answer(HTTPStatus.NO_CONTENT, headers=headers))
        elif head.path.startswith(_PREFIX) and head.path.endswith(_SUFFIX):
            if head.method != "POST":
                raise BadHttp(HTTPStatus.METHOD_NOT_ALLOWED, "requests are made with POST")
            self._request(exchange, head.path[len(_PREFIX) : -len(_SUFFIX)], body)
        else:
            self._answer_page(exchange, self._server.page(head.path))

    def _check_origin(self, head: Head) -> None:
        if not self._server.origins.allows(head.headers.get("origin"), head.headers.get("host", "")):
            raise BadHttp(
                HTTPStatus.FORBIDDEN,
                "pages of this origin may not use this server; allowed_origins can name it",
            )

    def _request(self, exchange: Exchange, name: str, body: bytes) -> None:
        reception = self._server.reception
        read = reception.read_http(name, exchange.head.query, body)
        if isinstance(read, bytes):
            self._answer_lines(exchange, read)
            return
        version, requests = read
        first = next(requests)
        if self._hand_over(first, exchange.raw_head + body):
            return
        if name not in SESSION_REQUESTS:
            self._steps, self._is_answering = self._answer_all(exchange, chain([first], requests)), True
            return
        wanted = reception.session_request(first)
        if isinstance(wanted, bytes):
            self._answer_lines(exchange, wanted)
        else:
            self._stream(exchange, version, wanted)

    def _answer_all(self, exchange: Exchange, requests: Iterator[RequestLine | BadRequest]) -> Iterator[int]:
        """One after another, and what each cost; the answer goes out when all are done."""
        reception, answers, paid = self._server.reception, list[bytes](), 1
        for request in requests:
            wanted = reception.read_control(request)
            if reception.has_to_wait(wanted, self._waited):
                # This connection has no turn until then: the next step is the one that carries it out.
                self._account.hold()
                yield 0
            answers.append(reception.answer_by_http(wanted))
            yield reception.collect_cost() - paid
            paid = 0
        self._answer_lines(exchange, b"".join(answers))

    def _waited(self) -> None:
        """What was asked for can be carried out now; whoever asked may have gone meanwhile."""
        if self in self._server.connections:
            self._account.release()

    def _answer_lines(self, exchange: Exchange, lines: bytes) -> None:
        headers = self._server.origins.headers(exchange.head.headers.get("origin"))
        self._answered(exchange, exchange.answer(HTTPStatus.OK, lines, headers=headers))

    def _hand_over(self, request: RequestLine | BadRequest, raw: bytes) -> bool:
        """Let another process answer if it is its session that the (first) request is about."""
        neighbours = self._server.neighbours
        session = request.parameters.get("LS_session") if isinstance(request, RequestLine) else None
        if neighbours is None or session is None or not neighbours.are_meant(session):
            return False
        received = raw + bytes(self._received)
        if not neighbours.hand_over(session, self._transport, received, is_upgraded=False):
            return False
        self._server.gateway.counters.connections_handed_over += 1
        return True

    def _stream(self, exchange: Exchange, version: Version, wanted: CreateSession | BindSession) -> None:
        head = exchange.head
        self._link = HttpLink(
            self._account,
            version,
            is_chunked=head.minor > 0,
            content_bytes=wanted.binding.content_length or _CONTENT_BYTES,
            ended=lambda: self._ended(keeps_alive=head.keeps_alive),
        )
        headers = self._server.origins.headers(head.headers.get("origin"))
        self._link.write(exchange.stream_head(headers))
        self._server.reception.open_by_http(self._link, wanted)

    def _ended(self, *, keeps_alive: bool) -> None:
        """The answer that went on is over."""
        self._link = None
        self.is_idle, self.since_s = True, time.monotonic()
        if not keeps_alive:
            self._transport.close()
        elif self._received:
            asyncio.get_running_loop().call_soon(self.take, b"")
