"""What a client of the gateway sends, as bytes."""

from __future__ import annotations

import struct

from .programs import ADAPTER_SET, TOKEN

TEXT, CONTINUATION, BINARY, CLOSE, PING = 0x1, 0x0, 0x2, 0x8, 0x9
UPGRADE = (
    b"GET /lightstreamer HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com\r\n\r\n"
)
CREATE = f"LS_adapter_set={ADAPTER_SET}&LS_cid=storm&LS_send_sync=false&LS_password={TOKEN}"


def frame(payload: bytes | str, opcode: int = TEXT, *, fin: bool = True, reserved: int = 0) -> bytes:
    """Masked with zeros, which is allowed and costs nothing."""
    data = payload.encode() if isinstance(payload, str) else payload
    first = opcode | (0x80 if fin else 0) | reserved << 4
    if len(data) < 126:
        head = struct.pack(">BB", first, 0x80 | len(data))
    elif len(data) < 65_536:
        head = struct.pack(">BBH", first, 0x80 | 126, len(data))
    else:
        head = struct.pack(">BBQ", first, 0x80 | 127, len(data))
    return head + b"\0\0\0\0" + data


def subscribe(item: str, schema: str, *, sub: int = 1, more: str = "") -> str:
    group, fields = item.replace(" ", "%20"), schema.replace(" ", "%20")
    return (
        f"control\r\nLS_reqId={sub}&LS_op=add&LS_subId={sub}&LS_group={group}&LS_schema={fields}"
        f"&LS_mode=MERGE&LS_ack=false{more}"
    )


def post(name: str, body: str) -> bytes:
    return (
        f"POST /lightstreamer/{name}.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
