"""Payloads as they go over a socket: WebSocket text frames, HTTP chunks."""

from __future__ import annotations

import struct

_TEXT = 0x81
_PONG = 0x8A
_MASKED = 0x80
LAST_CHUNK = b"0\r\n\r\n"


def websocket_frame(payload: bytes) -> bytes:
    """A whole text message, from server to client."""
    size = len(payload)
    if size < 126:
        return b"%c%c%b" % (_TEXT, size, payload)
    if size < 65_536:
        return struct.pack(">BBH", _TEXT, 126, size) + payload
    return struct.pack(">BBQ", _TEXT, 127, size) + payload


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping, whose payload has at most 125 bytes."""
    return b"%c%c%b" % (_PONG, len(payload), payload)


def masked_frame(payload: bytes) -> bytes:
    """A whole text message as from a client, under a mask of zeros."""
    size = len(payload)
    if size < 126:
        head = struct.pack(">BB", _TEXT, _MASKED | size)
    elif size < 65_536:
        head = struct.pack(">BBH", _TEXT, _MASKED | 126, size)
    else:
        head = struct.pack(">BBQ", _TEXT, _MASKED | 127, size)
    return head + b"\0\0\0\0" + payload


def http_chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)
