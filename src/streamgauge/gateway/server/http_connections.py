"""Connections as they come: HTTP requests, of which some ask to become a WebSocket."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from streamgauge.gateway.protocol.commands import BindSession, CreateSession
from streamgauge.gateway.protocol.requests import BadRequest, RequestLine
from streamgauge.gateway.protocol.versions import Version
from streamgauge.gateway.server import websocket_connections
from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.http_messages import (
    MAX_HEAD_BYTES,
    BadHttp,
    Head,
    answer,
    parse_head,
    stream_head,
)
from streamgauge.gateway.server.links import HttpLink
from streamgauge.gateway.server.neighbours import SilentTransport
from streamgauge.gateway.server.reception import SESSION_REQUESTS

if TYPE_CHECKING:
    from streamgauge.gateway.server.server import PushServer

_PREFIX, _SUFFIX = "/lightstreamer/", ".txt"
_CONTENT_BYTES = 4_000_000
"""Of a streaming answer whose client sets no length."""
# Bytes are taken out before the next connection is read, so that one buffer does for all.
_BUFFER = memoryview(bytearray(65_536))


class HttpConnection(asyncio.BufferedProtocol):
    """One client's connection, until it becomes a WebSocket or ends."""

    __slots__ = (
        *(
            "_account",
            "_head",
            "_link",
            "_raw_head",
            "_received",
            "_server",
            "_transport",
            "_unread",
        ),
        *("_is_upgraded", "is_idle", "since_s"),
    )

    def __init__(self, server: PushServer, received: bytes = b"", *, is_upgraded: bool = False) -> None:
        """`received`: what another process has read already of a connection that it hands over;
        `is_upgraded`: that has been made a WebSocket already."""
        self._server, self._is_upgraded = server, is_upgraded
        self._received = bytearray()
        self._unread = received
        self._head: Head | None = None
        self._raw_head = b""
        self._link: HttpLink | None = None
        self.since_s = time.monotonic()
        """When it began to wait for what it is waiting for now."""
        self.is_idle = False
        """It has answered a request, and none has come since."""

    @property
    def is_streaming(self) -> bool:
        return self._link is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._account = self._server.gateway.budget.open(self._transport)
        self._server.gateway.counters.connections += 1
        self._server.connections[self] = None
        if self._unread:
            # Before anything is read from the socket itself.
            unread, self._unread = self._unread, b""
            with self._account:
                self.take(unread)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.pop(self, None)
        self._account.close()
        if self._link is not None:
            self._server.gateway.broken(self._link)

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        with self._account:
            self.take(bytes(_BUFFER[:nbytes]))

    def pause_writing(self) -> None:
        if self._link is None:
            # Who does not read answers is not asked for more requests.
            self._account.filled(reads_on=False)
            return
        self._link.filled()
        if self._link.session is not None:
            self._server.gateway.delivery.socket_filled(self._link.session)

    def resume_writing(self) -> None:
        if self._link is None:
            self._account.drained()
        else:
            self._link.drained()
            if self._link.session is not None:
                self._server.gateway.delivery.socket_drained(self._link.session)

    def drop(self, reason: Reason) -> None:
        self._account.drop(reason)

    def take(self, data: bytes) -> None:
        """What the client has sent."""
        if self.is_idle:
            self.is_idle, self.since_s = False, time.monotonic()
        self._received += data
        if self._link is None:
            self._advance()
        if self in self._server.connections:
            self._account.keep(len(self._received))

    def _advance(self) -> None:
        """Answer all whole requests, one after another; an answer that goes on makes the next one wait."""
        try:
            while self._link is None and not self._transport.is_closing():
                if self._head is None and not self._read_head():
                    return
                if self._head is None:
                    return
                length = self._head.body_length(self._server.settings.limits.request_bytes)
                if len(self._received) < length:
                    return
                head, body = self._head, bytes(self._received[:length])
                del self._received[:length]
                self._head = None
                self._respond(head, body)
                self._account.spend(max(1, self._server.reception.collect_cost()))
        except BadHttp as bad:
            self._server.gateway.counters.requests_refused += 1
            self._write(answer(bad.status, bad.message.encode()))
            self._transport.close()

    def _read_head(self) -> bool:
        """False while it has not come whole. A WebSocket takes the connection over."""
        end = self._received.find(b"\r\n\r\n")
        if end < 0 or end > MAX_HEAD_BYTES:
            if len(self._received) > MAX_HEAD_BYTES:
                raise BadHttp(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the head of the request is too long"
                )
            return False
        self._raw_head = bytes(self._received[: end + 4])
        head = parse_head(self._raw_head[:-4])
        if head.wants_websocket:
            self._become_websocket(head)
            return False
        del self._received[: end + 4]
        self._head = head
        return True

    def _become_websocket(self, head: Head) -> None:
        if head.path.rstrip("/") != websocket_connections.PATH:
            raise BadHttp(HTTPStatus.NOT_FOUND, "WebSockets are at /lightstreamer")
        if not self._server.origins.allows(head.headers.get("origin")):
            raise BadHttp(HTTPStatus.FORBIDDEN, "pages of this origin may not use this server")
        spoken = websocket_connections.subprotocol(head)
        if spoken is None:
            raise BadHttp(
                HTTPStatus.BAD_REQUEST, "the subprotocol must be TLCP-2.0.0.lightstreamer.com up to 2.5"
            )
        self._server.connections.pop(self, None)
        transport = self._transport
        if self._is_upgraded:
            transport = SilentTransport(transport).as_transport()
        received = bytes(self._received)
        self._received.clear()
        websocket_connections.take_over(self._server, self._account, transport, *spoken, received)

    def _respond(self, head: Head, body: bytes) -> None:
        origin = head.headers.get("origin")
        if not self._server.origins.allows(origin):
            raise BadHttp(HTTPStatus.FORBIDDEN, "pages of this origin may not use this server")
        if head.method == "OPTIONS":
            self._answer(head, HTTPStatus.NO_CONTENT, headers=self._server.origins.preflight_headers(origin))
        elif head.path.startswith(_PREFIX) and head.path.endswith(_SUFFIX):
            if head.method != "POST":
                raise BadHttp(HTTPStatus.METHOD_NOT_ALLOWED, "requests are made with POST")
            self._request(head, head.path[len(_PREFIX) : -len(_SUFFIX)], body)
        else:
            self._page(head)

    def _request(self, head: Head, name: str, body: bytes) -> None:
        read = self._server.reception.read_http(name, head.query, body)
        if isinstance(read, bytes):
            self._answer(head, HTTPStatus.OK, read)
            return
        version, requests = read
        if self._hand_over(requests[0], body):
            return
        if name not in SESSION_REQUESTS:
            self._answer(head, HTTPStatus.OK, self._server.reception.on_http(requests))
            return
        wanted = self._server.reception.session_request(requests[0])
        if isinstance(wanted, bytes):
            self._answer(head, HTTPStatus.OK, wanted)
        else:
            self._stream(head, version, wanted)

    def _hand_over(self, request: RequestLine | BadRequest, body: bytes) -> bool:
        """Let another process answer if it is its session that the (first) request is about."""
        neighbours = self._server.neighbours
        session = request.parameters.get("LS_session") if isinstance(request, RequestLine) else None
        if neighbours is None or session is None or not neighbours.are_meant(session):
            return False
        received = self._raw_head + body + bytes(self._received)
        if not neighbours.hand_over(session, self._transport, received, is_upgraded=False):
            return False
        self._server.gateway.counters.connections_handed_over += 1
        return True

    def _stream(self, head: Head, version: Version, wanted: CreateSession | BindSession) -> None:
        self._link = HttpLink(
            self._account,
            version,
            is_chunked=head.minor > 0,
            content_bytes=wanted.binding.content_length or _CONTENT_BYTES,
            ended=lambda: self._ended(keeps_alive=head.keeps_alive and head.minor > 0),
        )
        headers = self._server.origins.headers(head.headers.get("origin"))
        self._link.write(stream_head(headers, chunked=head.minor > 0))
        self._server.reception.open_by_http(self._link, wanted)

    def _ended(self, *, keeps_alive: bool) -> None:
        """The answer that went on is over."""
        self._link = None
        self.is_idle, self.since_s = True, time.monotonic()
        if not keeps_alive:
            self._transport.close()
        elif self._received:
            asyncio.get_running_loop().call_soon(self._advance)

    def _page(self, head: Head) -> None:
        if head.method not in ("GET", "HEAD"):
            raise BadHttp(HTTPStatus.METHOD_NOT_ALLOWED, "pages are read with GET")
        page = self._server.page(head.path)
        if page is None:
            raise BadHttp(HTTPStatus.NOT_FOUND, "there is nothing here")
        self._answer(head, page.status, page.body, content_type=page.content_type)

    def _answer(
        self,
        head: Head,
        status: HTTPStatus,
        body: bytes = b"",
        *,
        content_type: str = "text/plain; charset=utf-8",
        headers: tuple[str, ...] | None = None,
    ) -> None:
        if headers is None:
            headers = self._server.origins.headers(head.headers.get("origin"))
        self._write(
            answer(
                status,
                body,
                content_type=content_type,
                headers=headers,
                keeps_alive=head.keeps_alive,
                head_only=head.method == "HEAD",
            )
        )
        self.is_idle, self.since_s = True, time.monotonic()
        if not head.keeps_alive:
            self._transport.close()

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)
