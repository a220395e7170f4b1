"""How a connection becomes a WebSocket (RFC 6455, 4.2)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from http import HTTPStatus

from streamgauge.gateway.protocol.versions import Version, offered_subprotocol
from streamgauge.gateway.server.http_messages import BadHttp

PATH = "/lightstreamer"
_VERSION = "13"
_KEY_BYTES = 16
_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def handshake(headers: Mapping[str, str]) -> tuple[bytes, str, Version]:
    """What to answer, and which subprotocol is spoken from then on. `headers` by name in small letters."""
    if "upgrade" not in {wish.strip() for wish in headers.get("connection", "").lower().split(",")}:
        raise BadHttp(HTTPStatus.BAD_REQUEST, "a WebSocket needs Connection: Upgrade")
    if headers.get("sec-websocket-version") != _VERSION:
        raise BadHttp(
            HTTPStatus.UPGRADE_REQUIRED,
            f"WebSockets of version {_VERSION} only",
            (("Sec-WebSocket-Version", _VERSION),),
        )
    spoken = offered_subprotocol(headers.get("sec-websocket-protocol", ""))
    if spoken is None:
        raise BadHttp(
            HTTPStatus.BAD_REQUEST, "the subprotocol must be TLCP-2.0.0.lightstreamer.com up to 2.5"
        )
    name, version = spoken
    answer = (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accepted_key(_key(headers))}\r\nSec-WebSocket-Protocol: {name}\r\n\r\n"
    )
    return answer.encode(), name, version


def accepted_key(key: bytes) -> str:
    """What a server says to a client's key."""
    return base64.b64encode(hashlib.sha1(key + _SUFFIX, usedforsecurity=False).digest()).decode()


def repeated(subprotocol: str) -> bytes:
    """A request for a WebSocket, for who takes in one that there is already."""
    return (
        f"GET {PATH} HTTP/1.1\r\nHost: neighbour\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n"
    ).encode()


def _key(headers: Mapping[str, str]) -> bytes:
    key = headers.get("sec-websocket-key", "").encode()
    try:
        if len(base64.b64decode(key, validate=True)) == _KEY_BYTES:
            return key
    except binascii.Error:
        pass
    raise BadHttp(HTTPStatus.BAD_REQUEST, "Sec-WebSocket-Key must be 16 bytes in base64")
