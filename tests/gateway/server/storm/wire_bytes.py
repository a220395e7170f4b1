"""What a client of the gateway sends, as bytes."""

from __future__ import annotations

from .. import client_frames
from ..client_frames import TEXT
from .programs import ADAPTER_SET, TOKEN

UPGRADE = (
    b"GET /lightstreamer HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com\r\n\r\n"
)
CREATE = f"LS_adapter_set={ADAPTER_SET}&LS_cid=storm&LS_send_sync=false&LS_password={TOKEN}"


def frame(payload: bytes | str, opcode: int = TEXT, *, fin: bool = True, reserved: int = 0) -> bytes:
    data = payload.encode() if isinstance(payload, str) else payload
    return client_frames.frame(data, opcode, fin=fin, rsv=reserved)


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
