"""Frames as a WebSocket client sends them, right and wrong ones."""

from __future__ import annotations

import itertools
import struct

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
NO_MASK = bytes(4)


def frame(
    payload: bytes = b"",
    opcode: int = TEXT,
    *,
    fin: bool = True,
    rsv: int = 0,
    mask: bytes = NO_MASK,
    size: int | None = None,
) -> bytes:
    """`size`: told to be its length. A mask of zeros is allowed, and costs nothing."""
    told = len(payload) if size is None else size
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    if told < 126:
        head = struct.pack(">BB", first, 0x80 | told)
    elif told < 65_536:
        head = struct.pack(">BBH", first, 0x80 | 126, told)
    else:
        head = struct.pack(">BBQ", first, 0x80 | 127, told)
    if mask != NO_MASK:
        payload = bytes(byte ^ key for byte, key in zip(payload, itertools.cycle(mask)))
    return head + mask + payload
