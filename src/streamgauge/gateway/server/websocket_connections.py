"""WebSocket connections: what their frames say goes to the reception."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from streamgauge.gateway.protocol.requests import BadRequest, RequestLine, websocket_requests
from streamgauge.gateway.protocol.versions import Version
from streamgauge.gateway.server.accounts import Account
from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.framing import close_frame, masked_frame, pong_frame
from streamgauge.gateway.server.links import WebSocketLink
from streamgauge.gateway.server.reception import Requests
from streamgauge.gateway.server.websocket_frames import (
    Broken,
    Close,
    CloseCode,
    Event,
    FrameReader,
    Ping,
    Pong,
    Text,
)
from streamgauge.gateway.server.websocket_handshake import handshake, repeated

if TYPE_CHECKING:
    from streamgauge.gateway.server.server import PushServer

LOGGER = logging.getLogger("streamgauge.gateway")
_GOODBYE_S = 1.0
"""How long a client may take to close a connection that is over."""
# Bytes are taken out before the next connection is read, so that one buffer does for all. What it holds is
# dealt with in one go, while all others wait: not much, therefore.
_BUFFER = memoryview(bytearray(16_384))


class WebSocketConnection(asyncio.BufferedProtocol):
    """One client's. Text messages only; what breaks the rules ends it, with the code that says why."""

    __slots__ = (
        *("_account", "_goodbye", "_leaving", "_message_bytes", "_ping", "_reader", "_server", "_steps"),
        *("_paid_frames", "_subprotocol", "link", "since_s"),
    )

    def __init__(self, server: PushServer, account: Account, subprotocol: str, version: Version) -> None:
        limits = server.settings.limits
        self._server, self._account, self._subprotocol = server, account, subprotocol
        self._reader = FrameReader(limits.request_bytes, limits.message_fragments)
        self._steps: Iterator[int] = iter(())
        """What there is to do about what was read last, a little at a time; each tells what it has cost."""
        self._message_bytes = 0
        """Of the message of which some requests have not been dealt with."""
        self._paid_frames = 0
        self._leaving: list[str] | None = None
        """Messages that another process is going to deal with, which is given this connection."""
        self._ping: bytes | None = None
        """The last one that could not be answered yet; those before it need no answer (RFC 6455, 5.5.3)."""
        self._goodbye: asyncio.TimerHandle | None = None
        """When it is over, this makes sure that it ends."""
        self.link = WebSocketLink(account, version)
        self.since_s = time.monotonic()
        """When it came, or its last session ended: without one it is not kept for long."""
        server.websockets[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._goodbye is not None:
            self._goodbye.cancel()
        self._server.websockets.pop(self, None)
        # They hold this, which holds them.
        self._steps = iter(())
        self._account.close()
        self._server.gateway.broken(self.link)

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        if not self.link.is_gone:
            with self._account:
                self.take(bytes(_BUFFER[:nbytes]))

    def pause_writing(self) -> None:
        self.link.filled()
        if self.link.session is not None:
            self._server.gateway.delivery.socket_filled(self.link.session)

    def resume_writing(self) -> None:
        self.link.drained()
        self._answer_ping()
        if self.link.session is not None:
            self._server.gateway.delivery.socket_drained(self.link.session)

    def take(self, data: bytes) -> None:
        """What the client has sent, all before it having been dealt with. Every frame is paid for, be it
        empty; requests by what they cost."""
        self._steps = self._deal_with_all(self._reader.read(data))
        self._proceed()

    def _proceed(self) -> None:
        """As far as it is this connection's turn; what is left of a read waits for the next."""
        account = self._account
        try:
            # Who goes to another process takes all that was read along.
            while self._leaving is not None or not account.turn_is_over:
                cost = next(self._steps, None)
                account.spend(self._unpaid_frames() + (cost or 0))
                if self.link.is_gone:
                    return
                if cost is None:
                    break
            else:
                account.later(self._take_turn)
        except Broken as broken:
            self.fail(broken.code, broken.why)
        except Exception:
            # Ours, and not the client's fault: the others must not suffer.
            LOGGER.exception("what came over a WebSocket could not be dealt with")
            self.fail(CloseCode.INTERNAL_ERROR, "")
        finally:
            self.link.let_go()
        account.keep(self._reader.kept_bytes + self._message_bytes)

    def _take_turn(self) -> None:
        if not self.link.is_gone:
            with self._account:
                self._proceed()

    def _unpaid_frames(self) -> int:
        unpaid, self._paid_frames = self._reader.frame_count - self._paid_frames, self._reader.frame_count
        return unpaid

    def fail(self, code: CloseCode, why: str) -> None:
        """End a connection that broke the rules; its session can be recovered."""
        self._server.gateway.budget.count_drop(Reason.RULES)
        self._say_goodbye(close_frame(code, why))

    def drop(self, reason: Reason) -> None:
        self._account.drop(reason)

    def _deal_with_all(self, events: Iterator[Event]) -> Iterator[int]:
        """What each step cost, beyond one for a frame."""
        for event in events:
            match event:
                case Text(message):
                    yield from self._take_message(message)
                case Ping(payload):
                    self._ping = payload
                    self._answer_ping()
                case Pong():
                    pass
                case Close(code):
                    self._say_goodbye(close_frame(code))
            yield 0

    def _answer_ping(self) -> None:
        """Only while nothing waits for the peer: who does not read is not owed more with every ping."""
        link = self.link
        if self._ping is not None and link.is_clear and not link.transport.get_write_buffer_size():
            ping, self._ping = self._ping, None
            link.write(pong_frame(ping))

    def _say_goodbye(self, frame: bytes) -> None:
        """Say the last, and let the client close the connection: if we did while something of it is unread,
        our last words could be lost on their way."""
        transport = self.link.transport
        self._server.gateway.broken(self.link)
        self.link.write(frame)
        self.link.is_over = True
        self._goodbye = asyncio.get_running_loop().call_later(_GOODBYE_S, transport.abort)
        if transport.can_write_eof():
            transport.write_eof()
        else:
            transport.close()

    def _take_message(self, message: str) -> Iterator[int]:
        requests = websocket_requests(message)
        first = next(requests)
        if self._leaving is not None or self._is_for_a_neighbour(first):
            self._leave(message)
            return
        self._message_bytes = len(message)
        # The first is paid for as a frame.
        yield self._request([first]) - 1
        for request in requests:
            self.link.gather()
            yield self._request([request])
        self._message_bytes = 0

    def _request(self, requests: Requests) -> int:
        """What they cost."""
        had_session = self.link.session is not None
        self._server.reception.on_websocket(self.link, requests, self._go_on)
        if had_session and self.link.session is None:
            self.since_s = time.monotonic()
        return self._server.reception.collect_cost()

    def _go_on(self, requests: Requests) -> None:
        """With what had to wait."""
        with self._account:
            self._account.spend(self._request(requests))

    def _is_for_a_neighbour(self, first: RequestLine | BadRequest) -> bool:
        """Whether a session is to be bound here that another process has."""
        neighbours = self._server.neighbours
        return (
            neighbours is not None
            and self.link.session is None
            and isinstance(first, RequestLine)
            and first.name == "bind_session"
            and neighbours.are_meant(first.parameters.get("LS_session"))
        )

    def _leave(self, message: str) -> None:
        """With this message and those that were read along with it."""
        if self._leaving is None:
            self._leaving = []
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._leaving.append(message)

    def _hand_over(self) -> None:
        neighbours, messages = self._server.neighbours, self._leaving
        assert neighbours is not None
        assert messages
        if self.link.is_gone:
            return
        first = next(websocket_requests(messages[0]))
        assert isinstance(first, RequestLine)
        frames = b"".join(masked_frame(message.encode()) for message in messages)
        received = repeated(self._subprotocol) + frames + self._reader.unfinished()
        session = first.parameters["LS_session"]
        if neighbours.hand_over(session, self.link.transport, received, is_upgraded=True):
            self._server.gateway.counters.connections_handed_over += 1
        else:
            self._leaving = None
            for message in messages:
                self._account.spend(self._request(list(websocket_requests(message))))


def take_over(
    server: PushServer, account: Account, headers: Mapping[str, str], received: bytes, *, is_answered: bool
) -> None:
    """Let a connection whose client has asked for a WebSocket be one; raises BadHttp where that cannot be.

    `headers`: of the request, by name in small letters; `received`: what came after it; `is_answered`: by
    another process, which has given us the connection."""
    answer, subprotocol, version = handshake(headers)
    connection = WebSocketConnection(server, account, subprotocol, version)
    account.transport.set_protocol(connection)
    if not is_answered:
        connection.link.write(answer)
    if received:
        connection.take(received)
