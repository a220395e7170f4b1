"""A connection that can carry a session, whatever the transport: framing, writing, and being full."""

from __future__ import annotations

import os
import socket as sockets
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from streamgauge.gateway.protocol.versions import Version
from streamgauge.gateway.server.accounts import Account
from streamgauge.gateway.server.framing import LAST_CHUNK, close_frame, http_chunk, websocket_frame
from streamgauge.gateway.server.websocket_frames import CloseCode

if TYPE_CHECKING:
    from streamgauge.gateway.server.sessions import Session

LinkKind = Literal["websocket", "http"]
_TLS_ROOM_BYTES = 65_536
_CORK = getattr(sockets, "TCP_CORK", None)


class Link(ABC):
    """`is_clear`: what was written last has gone to the socket, nothing waits in the process."""

    __slots__ = (
        "_is_gathering",
        "account",
        "address",
        "is_clear",
        "is_over",
        "last_session",
        "session",
        "socket",
        "transport",
        "version",
    )

    kind: LinkKind

    def __init__(self, account: Account, version: Version) -> None:
        self.account, self.address, self.version = account, account.address, version
        transport = self.transport = account.transport
        self.session: Session | None = None
        """The one bound to it now."""
        self.last_session: str | None = None
        """The last one that was bound to it: the one meant by requests that name none."""
        self.is_clear = True
        self._is_gathering = self.is_over = False
        """All has been said; the connection is about to be closed by its client."""
        is_tls = transport.get_extra_info("ssl_object") is not None
        self.socket = -1 if is_tls else transport.get_extra_info("socket").fileno()
        """To be written to directly; -1 when bytes have to pass the transport."""
        # A transport reports "full" as soon as anything waits in it. Where all bytes pass
        # through it, something waits most of the time, and there has to be more of it.
        transport.set_write_buffer_limits(high=_TLS_ROOM_BYTES if is_tls else 0)

    @abstractmethod
    def frame(self, payload: bytes) -> bytes:
        """Lines as this link carries them."""

    @abstractmethod
    def end(self, *, close: bool) -> None:
        """No session is bound to it any more; `close`: nor will another be."""

    def send(self, payload: bytes) -> None:
        if payload:
            self.write(self.frame(payload))

    def gather(self) -> None:
        """What is written until `let_go` goes out together: a thousand answers, each in a packet of its own,
        cost many times as much (Linux; there is nothing to gather where bytes pass the transport)."""
        if not self._is_gathering and self.socket >= 0:
            self._is_gathering = True
            self._cork(1)

    def let_go(self) -> None:
        if self._is_gathering:
            self._is_gathering = False
            self._cork(0)

    def _cork(self, is_in: int) -> None:
        if _CORK is not None:
            # It may have been closed meanwhile.
            with suppress(OSError):
                self.transport.get_extra_info("socket").setsockopt(sockets.IPPROTO_TCP, _CORK, is_in)

    def write(self, data: bytes) -> None:
        """To the socket what it takes at once; the rest waits in the transport, which tells when it left."""
        if self.socket >= 0 and self.is_clear and not self.transport.get_write_buffer_size():
            try:
                sent = os.write(self.socket, data)
            except OSError:
                # Full, or broken: the transport finds out which.
                sent = 0
            if sent == len(data):
                return
            data = data[sent:]
        self.hold(data)

    def hold(self, data: bytes) -> None:
        """Let bytes wait in the transport: the socket is full."""
        if not self.is_gone:
            self.account.held_bytes += len(data)
            self.transport.write(data)
            if not self.is_clear:
                self.account.owe()

    @property
    def is_gone(self) -> bool:
        """Nothing can be said any more."""
        return self.is_over or self.transport.is_closing()

    def filled(self) -> None:
        """The socket takes no more."""
        self.is_clear = False
        self.account.filled()

    def drained(self) -> None:
        """The socket has taken what waited."""
        self.is_clear = True
        self.account.drained()

    def abort(self) -> None:
        """Close at once, whatever waits."""
        self.transport.abort()


class WebSocketLink(Link):
    __slots__ = ()
    kind: LinkKind = "websocket"

    def frame(self, payload: bytes) -> bytes:
        return websocket_frame(payload)

    def end(self, *, close: bool) -> None:
        self.session = None
        if close:
            self.write(close_frame(CloseCode.NORMAL))
            self.transport.close()


class HttpLink(Link):
    """The answer to one POST, which goes on until `end`."""

    __slots__ = ("_ended", "_is_chunked", "left_bytes")
    kind: LinkKind = "http"

    def __init__(
        self,
        account: Account,
        version: Version,
        *,
        is_chunked: bool,
        content_bytes: int,
        ended: Callable[[], None],
    ) -> None:
        super().__init__(account, version)
        self._is_chunked, self._ended = is_chunked, ended
        self.left_bytes = content_bytes
        """What the client is ready to read of this answer."""

    def frame(self, payload: bytes) -> bytes:
        return http_chunk(payload) if self._is_chunked else payload

    def end(self, *, close: bool) -> None:
        self.session = None
        if self._is_chunked:
            self.write(LAST_CHUNK)
        if close or not self._is_chunked:
            self.transport.close()
        self._ended()
