"""HTTP/1.1 by h11: the head and body of a request, and the answer to it.

What h11 forgives and others read differently is refused before it comes to that: line ends other than CR LF,
folded headers, control characters. A body must tell its length. The chunks of an answer that goes on are made
in `framing`, once for all who get the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

import h11

MAX_HEAD_BYTES = 16_384
_AMBIGUOUS = re.compile(rb"(?<!\r)\n|\r(?!\n)|\r\n[ \t]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TEXT = "text/plain; charset=utf-8"
_NOT_CACHED = (("Cache-Control", "no-store, no-cache, no-transform"), ("Pragma", "no-cache"))

Headers = Iterable[tuple[str, str]]


@dataclass(eq=False)
class BadHttp(Exception):
    """A request that is answered with an HTTP error, after which the connection is closed."""

    status: HTTPStatus
    message: str
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Head:
    method: str
    path: str
    query: str
    headers: dict[str, str]
    """By name in small letters."""
    minor: int
    """HTTP/1.0 knows no chunks."""

    @property
    def keeps_alive(self) -> bool:
        return self.minor > 0 and "close" not in self.headers.get("connection", "").lower()

    @property
    def wants_websocket(self) -> bool:
        return self.method == "GET" and self.headers.get("upgrade", "").lower() == "websocket"


class Exchange:
    """One request and its answer."""

    __slots__ = ("_peer", "head", "raw_head")

    def __init__(self, raw_head: bytes) -> None:
        """From the request line to the empty line; raises BadHttp."""
        if _AMBIGUOUS.search(raw_head):
            raise BadHttp(
                HTTPStatus.BAD_REQUEST,
                "a head has lines that end with CR LF, unfolded, without control characters",
            )
        self.raw_head = raw_head
        self._peer = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        event = self._receive(raw_head)
        if not isinstance(event, h11.Request):
            raise BadHttp(HTTPStatus.BAD_REQUEST, "this is not an HTTP/1.1 request")
        self.head = _head(event)

    def body_length(self, limit: int) -> int:
        """Bytes that follow the head; raises BadHttp when that is not told, or too much."""
        headers = self.head.headers
        if "transfer-encoding" in headers:
            raise BadHttp(HTTPStatus.LENGTH_REQUIRED, "send the body with a Content-Length")
        length = int(headers.get("content-length", "0"))
        if length > limit:
            raise BadHttp(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request may have {limit} bytes")
        return length

    def invitation(self) -> bytes:
        """What a client waits for that asks before it sends a body; nothing for others, or a second time."""
        if not self._peer.they_are_waiting_for_100_continue:
            return b""
        return self._peer.send(h11.InformationalResponse(status_code=100, headers=[])) or b""

    def body(self, raw: bytes) -> bytes:
        """The whole body, of `body_length` bytes."""
        parts, event = [], self._receive(raw)
        while isinstance(event, h11.Data):
            parts.append(bytes(event.data))
            event = self._peer.next_event()
        return b"".join(parts)

    def answer(
        self, status: HTTPStatus, body: bytes = b"", *, content_type: str = _TEXT, headers: Headers = ()
    ) -> bytes:
        """A whole answer."""
        return _answer(self._peer, status, body, content_type, headers, self.head)

    def stream_head(self, headers: Headers, *, content_type: str = _TEXT) -> bytes:
        """The head of an answer whose body goes on."""
        how = ("Transfer-Encoding", "chunked") if self.head.minor else ("Connection", "close")
        lines = [("Content-Type", content_type), how, *_NOT_CACHED, *headers]
        return self._peer.send(h11.Response(status_code=200, reason=b"OK", headers=lines)) or b""

    def _receive(self, data: bytes) -> object:
        try:
            if data:
                # Nothing would mean that nothing comes any more.
                self._peer.receive_data(data)
            return self._peer.next_event()
        except h11.RemoteProtocolError as error:
            # h11 raises it from a frame that holds it: a circle, with all that the client has sent in it.
            error.__traceback__ = None
            raise BadHttp(HTTPStatus(error.error_status_hint), str(error)) from None


def refusal(bad: BadHttp) -> bytes:
    """The answer to a request of which nothing can be taken for granted."""
    return _answer(h11.Connection(h11.SERVER), bad.status, bad.message.encode(), _TEXT, bad.headers, None)


def _head(request: h11.Request) -> Head:
    if not request.target.startswith(b"/") or request.http_version not in (b"1.0", b"1.1"):
        raise BadHttp(HTTPStatus.BAD_REQUEST, "this is not an HTTP/1.1 request for a path")
    headers: dict[str, str] = {}
    for raw_name, raw_value in request.headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    path, _, query = request.target.decode("latin-1").partition("?")
    return Head(request.method.decode(), path, query, headers, int(request.http_version[2:]))


def _answer(
    peer: h11.Connection,
    status: HTTPStatus,
    body: bytes,
    content_type: str,
    headers: Headers,
    head: Head | None,
) -> bytes:
    keeps_alive = head is not None and head.keeps_alive
    lines = [
        ("Content-Type", content_type),
        ("Content-Length", str(len(body))),
        ("Connection", "keep-alive" if keeps_alive else "close"),
        *_NOT_CACHED,
        *headers,
    ]
    events: list[h11.Event] = [
        h11.Response(status_code=status.value, reason=status.phrase.encode(), headers=lines)
    ]
    if head is None or head.method != "HEAD":
        events.append(h11.Data(data=body))
    events.append(h11.EndOfMessage())
    return b"".join(peer.send(event) or b"" for event in events)
