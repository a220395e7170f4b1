"""Payloads as they go over a socket: WebSocket frames, HTTP chunks."""

from __future__ import annotations

import struct

_FIN, _MASKED = 0x80, 0x80
_TEXT, _CLOSE, _PONG = _FIN | 0x1, _FIN | 0x8, _FIN | 0xA
_MOST_CONTROL_BYTES = 125
_CODE_BYTES = 2
LAST_CHUNK = b"0\r\n\r\n"
NO_MASK = bytes(4)


def websocket_frame(payload: bytes) -> bytes:
    """A whole text message, from server to client."""
    size = len(payload)
    if size < 126:
        return b"%c%c%b" % (_TEXT, size, payload)
    if size < 65_536:
        return struct.pack(">BBH", _TEXT, 126, size) + payload
    return struct.pack(">BBQ", _TEXT, 127, size) + payload


def close_frame(code: int | None, why: str = "") -> bytes:
    """From server to client."""
    most = _MOST_CONTROL_BYTES - _CODE_BYTES
    payload = b"" if code is None else struct.pack(">H", code) + why.encode()[:most]
    return b"%c%c%b" % (_CLOSE, len(payload), payload)


def pong_frame(payload: bytes) -> bytes:
    """From server to client: the answer to a ping, whose payload has at most 125 bytes."""
    return b"%c%c%b" % (_PONG, len(payload), payload)


def masked_frame(payload: bytes, *, fin: bool = True) -> bytes:
    """A text frame as from a client, under a mask of zeros."""
    return masked_head(_TEXT if fin else _TEXT & ~_FIN, len(payload), NO_MASK) + payload


def masked_head(first: int, size: int, mask: bytes) -> bytes:
    """What comes before the payload of a client's frame; `first` says what it is."""
    if size < 126:
        return struct.pack(">BB", first, _MASKED | size) + mask
    if size < 65_536:
        return struct.pack(">BBH", first, _MASKED | 126, size) + mask
    return struct.pack(">BBQ", first, _MASKED | 127, size) + mask


def http_chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)
