"""A connection on which requests come and are answered, one after another: what all of ours share."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.http_messages import MAX_HEAD_BYTES, BadHttp, Exchange, refusal

if TYPE_CHECKING:
    from streamgauge.gateway.server.door import Arrival
    from streamgauge.gateway.server.server import Page, PushServer

# Bytes are taken out before the next connection is read, so that one buffer does for all.
_BUFFER = memoryview(bytearray(65_536))
_HEAD_END = b"\r\n\r\n"


class HttpExchanges(asyncio.BufferedProtocol):
    """Has an account with the budget like whatever reads from a socket, and deadlines by `since_s`."""

    __slots__ = (
        *("_account", "_exchange", "_is_answering", "_received", "_server", "_steps", "_transport"),
        *("arrival", "is_idle", "since_s"),
    )

    def __init__(self, server: PushServer) -> None:
        self._server = server
        self._received = bytearray()
        self._exchange: Exchange | None = None
        """Whose head has come, and whose body has not yet."""
        self._steps: Iterator[int] = iter(())
        """What there is to do for an answer that is made a little at a time; each tells what it has cost."""
        self._is_answering = False
        self.arrival: Arrival | None = None
        """As what it was counted while it was shaking hands."""
        self.since_s = time.monotonic()
        """When it began to wait for what it is waiting for now."""
        self.is_idle = False
        """It has answered a request, and none has come since."""

    @property
    def is_streaming(self) -> bool:
        """Whether an answer goes on, and the next request has to wait."""
        return False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        if self.arrival is not None:
            self.arrival.left()
            self.arrival = None
        self._account = self._server.gateway.budget.open(self._transport)
        self._server.gateway.counters.connections += 1
        self._server.connections[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        # They hold this, which holds them.
        self._steps = iter(())
        self._server.connections.pop(self, None)
        self._account.close()

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        self.take(bytes(_BUFFER[:nbytes]))

    def pause_writing(self) -> None:
        # Who does not read answers is not asked for more requests.
        self._account.filled(reads_on=False)

    def resume_writing(self) -> None:
        self._account.drained()

    def drop(self, reason: Reason) -> None:
        self._account.drop(reason)

    def take(self, data: bytes) -> None:
        """What the client has sent."""
        with self._account:
            if self.is_idle and data:
                self.is_idle, self.since_s = False, time.monotonic()
            self._received += data
            self._advance()
            if self in self._server.connections:
                self._account.keep(len(self._received))

    def _take_turn(self) -> None:
        """With what came along with the last request."""
        if not self._transport.is_closing():
            self.take(b"")

    @abstractmethod
    def _respond(self, exchange: Exchange, body: bytes) -> None:
        """Answer a whole request; raises BadHttp."""

    def _upgrade(self, exchange: Exchange) -> None:
        """Take a WebSocket over; all that came, head and all, is in `_received`. Raises BadHttp."""
        raise BadHttp(HTTPStatus.NOT_FOUND, "there are no WebSockets here")

    def _advance(self) -> None:
        """Answer all whole requests."""
        try:
            while not self.is_streaming and not self._transport.is_closing():
                if self._account.turn_is_over:
                    if self._received or self._is_answering:
                        self._account.later(self._take_turn)
                    return
                if self._is_answering:
                    self._take_step()
                    continue
                exchange = self._exchange or self._read_head()
                if exchange is None:
                    return
                self._exchange = exchange
                length = exchange.body_length(self._server.settings.limits.request_bytes)
                if len(self._received) < length:
                    self._write(exchange.invitation())
                    return
                body = exchange.body(bytes(self._received[:length]))
                del self._received[:length]
                self._exchange = None
                self._respond(exchange, body)
                self._account.spend(max(1, self._server.reception.collect_cost()))
        except BadHttp as bad:
            self._server.gateway.counters.requests_refused += 1
            self._write(refusal(bad))
            self._transport.close()

    def _take_step(self) -> None:
        cost = next(self._steps, None)
        if cost is None:
            self._is_answering = False
        else:
            self._account.spend(cost)

    def _read_head(self) -> Exchange | None:
        """None while it has not come whole, or when the connection is a WebSocket from now on."""
        end = self._received.find(_HEAD_END)
        if end < 0 or end > MAX_HEAD_BYTES:
            if len(self._received) > MAX_HEAD_BYTES:
                raise BadHttp(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the head of the request is too long"
                )
            return None
        size = end + len(_HEAD_END)
        exchange = Exchange(bytes(self._received[:size]))
        if exchange.head.wants_websocket:
            self._upgrade(exchange)
            return None
        del self._received[:size]
        return exchange

    def _answer_page(self, exchange: Exchange, page: Page | None) -> None:
        if exchange.head.method not in ("GET", "HEAD"):
            raise BadHttp(HTTPStatus.METHOD_NOT_ALLOWED, "pages are read with GET")
        if page is None:
            raise BadHttp(HTTPStatus.NOT_FOUND, "there is nothing here")
        self._answered(exchange, exchange.answer(page.status, page.body, content_type=page.content_type))

    def _answered(self, exchange: Exchange, answer: bytes) -> None:
        self._write(answer)
        self.is_idle, self.since_s = True, time.monotonic()
        if not exchange.head.keeps_alive:
            self._transport.close()

    def _write(self, data: bytes) -> None:
        if data and not self._transport.is_closing():
            self._transport.write(data)
