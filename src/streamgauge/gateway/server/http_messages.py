"""HTTP/1.1 as far as the server needs it: heads of requests, and answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus

MAX_HEAD_BYTES = 16_384
_REQUEST_LINE = re.compile(rb"([A-Z]{1,10}) (/[!-~]*) HTTP/1\.([01])")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_CACHED = ("Cache-Control: no-store, no-cache, no-transform", "Pragma: no-cache")


@dataclass(eq=False)
class BadHttp(Exception):
    """A request that is answered with an HTTP error, after which the connection is closed."""

    status: HTTPStatus
    message: str


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
        wishes = self.headers.get("connection", "").lower()
        return "close" not in wishes if self.minor else "keep-alive" in wishes

    @property
    def wants_websocket(self) -> bool:
        return self.method == "GET" and self.headers.get("upgrade", "").lower() == "websocket"

    def body_length(self, limit: int) -> int:
        """Bytes that follow the head; raises BadHttp when that is not told, or too much."""
        if "transfer-encoding" in self.headers:
            raise BadHttp(HTTPStatus.LENGTH_REQUIRED, "send the body with a Content-Length")
        length = self.headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit() and len(length) < 15):
            raise BadHttp(HTTPStatus.BAD_REQUEST, "Content-Length is not a number")
        if int(length) > limit:
            raise BadHttp(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request may have {limit} bytes")
        return int(length)


def parse_head(raw: bytes) -> Head:
    """From the request line to the last header, without the empty line; raises BadHttp."""
    first, *rest = raw.split(b"\r\n")
    match = _REQUEST_LINE.fullmatch(first)
    if match is None:
        raise BadHttp(HTTPStatus.BAD_REQUEST, "this is not an HTTP/1.1 request")
    headers: dict[str, str] = {}
    for line in rest:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not _HEADER_NAME.fullmatch(name):
            raise BadHttp(HTTPStatus.BAD_REQUEST, "a header is not of the form name: value")
        key = name.lower()
        if key in headers and key in ("content-length", "transfer-encoding", "host"):
            raise BadHttp(HTTPStatus.BAD_REQUEST, f"{name} is given twice")
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    path, _, query = match[2].decode().partition("?")
    return Head(match[1].decode(), path, query, headers, int(match[3]))


def answer(
    status: HTTPStatus,
    body: bytes = b"",
    *,
    content_type: str = "text/plain; charset=utf-8",
    headers: tuple[str, ...] = (),
    keeps_alive: bool = False,
    head_only: bool = False,
) -> bytes:
    """A whole answer."""
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        f"Connection: {'keep-alive' if keeps_alive else 'close'}",
        *_NOT_CACHED,
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if head_only else body)


def stream_head(headers: tuple[str, ...], *, chunked: bool) -> bytes:
    """The head of an answer whose body goes on."""
    how = "Transfer-Encoding: chunked" if chunked else "Connection: close"
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/plain; charset=utf-8", how, *_NOT_CACHED, *headers]
    return "\r\n".join([*lines, "", ""]).encode()
