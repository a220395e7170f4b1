"""WebSocket connections. picows reads the frames; what they say goes to the reception."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import picows
from picows.picows import WSProtocol  # type: ignore[attr-defined]

from streamgauge.gateway.protocol.requests import RequestLine, websocket_requests
from streamgauge.gateway.protocol.versions import Version, offered_subprotocol
from streamgauge.gateway.server.accounts import Account
from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.framing import masked_frame, pong_frame
from streamgauge.gateway.server.http_messages import Head
from streamgauge.gateway.server.links import WebSocketLink
from streamgauge.gateway.server.reception import Requests

if TYPE_CHECKING:
    from streamgauge.gateway.server.server import PushServer

PATH = "/lightstreamer"
_READ_BUFFER_BYTES = 2048
# An adapter: of a plain logger picows would make a child for each connection, and keep it.
_LOGGER = logging.LoggerAdapter(logging.getLogger("streamgauge.gateway.picows"), {})


class WebSocketConnection(picows.WSListener):
    """One client's. Text messages only; what breaks the rules ends it, with the code that says why."""

    __slots__ = (
        *("_account", "_fragments", "_leaving", "_ping", "_server", "_subprotocol"),
        *("_unfinished_bytes", "_version", "_websocket", "link", "since_s"),
    )

    def __init__(self, server: PushServer, account: Account, subprotocol: str, version: Version) -> None:
        self._server, self._account = server, account
        self._subprotocol, self._version = subprotocol, version
        self._leaving: list[bytes] | None = None
        """Messages that another process is going to deal with, which is given this connection."""
        self._fragments: list[bytes] | None = None
        self._unfinished_bytes = 0
        """Of all fragments together."""
        self._ping: bytes | None = None
        """The last one that could not be answered yet; those before it need no answer (RFC 6455, 5.5.3)."""
        self.since_s = time.monotonic()
        """When it came, or its last session ended: without one it is not kept for long."""

    def on_ws_connected(self, transport: picows.WSTransport) -> None:
        self._websocket = transport
        self.link = WebSocketLink(self._account, self._version)
        # The handshake is not needed any more, and there are many of these.
        transport.request.headers.clear()
        transport.response.headers.clear()
        self._server.websockets[self] = None

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        if self._websocket.is_close_frame_sent:
            return
        kind = frame.msg_type
        if frame.rsv1 or frame.rsv2 or frame.rsv3:
            self.fail(picows.WSCloseCode.PROTOCOL_ERROR, "no extension was agreed on that uses these bits")
        elif kind == picows.WSMsgType.TEXT and frame.fin and self._fragments is None:
            self._take(frame.get_payload_as_bytes())
        elif kind in (picows.WSMsgType.TEXT, picows.WSMsgType.CONTINUATION):
            self._account.spend(1)
            self._take_fragment(frame)
        elif kind == picows.WSMsgType.BINARY:
            self.fail(picows.WSCloseCode.UNSUPPORTED_DATA, "text messages only")
        elif kind == picows.WSMsgType.PING:
            self._account.spend(1)
            self._ping = frame.get_payload_as_bytes()
            self._answer_ping()
        elif kind == picows.WSMsgType.PONG:
            self._account.spend(1)
        elif kind == picows.WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code(), frame.get_close_message())
            transport.disconnect()

    def on_ws_disconnected(self, transport: picows.WSTransport) -> None:
        self._server.websockets.pop(self, None)
        self._account.close()
        self._server.gateway.broken(self.link)

    def pause_writing(self) -> None:
        self.link.filled()
        if self.link.session is not None:
            self._server.gateway.delivery.socket_filled(self.link.session)

    def resume_writing(self) -> None:
        self.link.drained()
        self._answer_ping()
        if self.link.session is not None:
            self._server.gateway.delivery.socket_drained(self.link.session)

    def fail(self, code: picows.WSCloseCode, why: str) -> None:
        """End a connection that broke the rules; its session can be recovered."""
        self._server.gateway.budget.count_drop(Reason.RULES)
        self._websocket.send_close(code, why)
        self._websocket.disconnect()

    def drop(self, reason: Reason) -> None:
        self._account.drop(reason)

    def _take_fragment(self, frame: picows.WSFrame) -> None:
        is_first = frame.msg_type == picows.WSMsgType.TEXT
        if is_first is (self._fragments is not None):
            self.fail(picows.WSCloseCode.PROTOCOL_ERROR, "a fragment out of place")
            return
        fragments = self._fragments = self._fragments or []
        payload, limits = frame.get_payload_as_bytes(), self._server.settings.limits
        fragments.append(payload)
        self._unfinished_bytes += len(payload)
        self._account.keep(self._unfinished_bytes)
        if self._unfinished_bytes > limits.request_bytes:
            self.fail(picows.WSCloseCode.MESSAGE_TOO_BIG, "a request is too long")
        elif len(fragments) > limits.message_fragments:
            self.fail(picows.WSCloseCode.POLICY_VIOLATION, "a message is in too many fragments")
        elif frame.fin:
            self._fragments, self._unfinished_bytes = None, 0
            self._account.keep(0)
            self._take(b"".join(fragments))

    def _answer_ping(self) -> None:
        """Only while nothing waits for the peer: who does not read is not owed more with every ping."""
        if self._ping is not None and self.link.is_clear and not self.link.transport.get_write_buffer_size():
            ping, self._ping = self._ping, None
            self.link.write(pong_frame(ping))

    def _take(self, message: bytes) -> None:
        try:
            requests = websocket_requests(message.decode())
        except UnicodeDecodeError:
            self.fail(picows.WSCloseCode.INVALID_TEXT, "a message is not UTF-8")
            return
        if self._leaving is not None or self._is_for_a_neighbour(requests):
            self._leave(message)
            return
        self._deal_with(requests)

    def _deal_with(self, requests: Requests) -> None:
        had_session = self.link.session is not None
        self._server.reception.on_websocket(self.link, requests, self._go_on)
        if had_session and self.link.session is None:
            self.since_s = time.monotonic()
        self._account.spend(self._server.reception.collect_cost())

    def _go_on(self, requests: Requests) -> None:
        """With what had to wait."""
        with self._account:
            self._deal_with(requests)

    def _is_for_a_neighbour(self, requests: Requests) -> bool:
        """Whether a session is to be bound here that another process has."""
        neighbours, first = self._server.neighbours, requests[0]
        return (
            neighbours is not None
            and self.link.session is None
            and isinstance(first, RequestLine)
            and first.name == "bind_session"
            and neighbours.are_meant(first.parameters.get("LS_session"))
        )

    def _leave(self, message: bytes) -> None:
        """With this message and those that were read along with it."""
        if self._leaving is None:
            self._leaving = []
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._leaving.append(message)

    def _hand_over(self) -> None:
        neighbours, messages = self._server.neighbours, self._leaving
        assert neighbours is not None
        assert messages
        requests = websocket_requests(messages[0].decode())
        assert isinstance(requests[0], RequestLine)
        received = _handshake(self._subprotocol) + b"".join(masked_frame(message) for message in messages)
        session = requests[0].parameters["LS_session"]
        if neighbours.hand_over(session, self.link.transport, received, is_upgraded=True):
            self._server.gateway.counters.connections_handed_over += 1
        else:
            self._leaving = None
            for message in messages:
                self._deal_with(websocket_requests(message.decode()))


def _handshake(subprotocol: str) -> bytes:
    """A request for a WebSocket, for who takes in one that there is already."""
    return (
        f"GET {PATH} HTTP/1.1\r\nHost: neighbour\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n"
    ).encode()


def subprotocol(head: Head) -> tuple[str, Version] | None:
    """What to speak with a client that wants a WebSocket; None: nothing that we could."""
    return offered_subprotocol(head.headers.get("sec-websocket-protocol", ""))


def take_over(
    server: PushServer,
    account: Account,
    written: asyncio.Transport,
    name: str,
    version: Version,
    received: bytes,
) -> None:
    """Let a connection whose client has asked for a WebSocket (in `received`) be one. `written` is the
    transport, or what stands before it."""

    def answered(_: picows.WSUpgradeRequest) -> picows.WSUpgradeResponseWithListener:
        response = picows.WSUpgradeResponse.create_101_response({"Sec-WebSocket-Protocol": name})
        return picows.WSUpgradeResponseWithListener(
            response, WebSocketConnection(server, account, name, version)
        )

    protocol = _Charged(
        None,  # host and port, for clients
        None,  # path, for clients
        False,  # is a client
        answered,
        _LOGGER,
        True,  # an exception ends the connection
        server.settings.limits.connect_deadline,
        False,  # pings: the protocol has its own sign of life
        *(10, 10, picows.WSAutoPingStrategy.PING_WHEN_IDLE),
        False,  # pongs: ours are bounded
        server.settings.limits.request_bytes,
        None,  # more headers, for clients
        _READ_BUFFER_BYTES,
    )
    protocol.account = account
    account.transport.set_protocol(protocol)
    protocol.connection_made(written)
    _feed(protocol, received)


class _Charged(WSProtocol):  # type: ignore[misc]
    """What a read takes is charged to the connection's account."""

    account: Account

    def buffer_updated(self, nbytes: int) -> None:
        with self.account:
            super().buffer_updated(nbytes)


def _feed(protocol: WSProtocol, received: bytes) -> None:
    """Hand a buffered protocol bytes that were read before it was there."""
    while received:
        room = protocol.get_buffer(-1)
        size = min(len(room), len(received))
        room[:size] = received[:size]
        # Past what charges for it: whoever read them does.
        WSProtocol.buffer_updated(protocol, size)
        received = received[size:]
