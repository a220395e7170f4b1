"""What a session of a push gateway says: that it wants a WebSocket, a session, and one subscription."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from streamgauge.gateway.protocol.percent import encode_request_value
from streamgauge.gateway.server.websocket_handshake import PATH, accepted_key

if TYPE_CHECKING:
    from streamgauge.drivers.push.access import GatewayAccess, GatewayAddress

SUBPROTOCOL = "TLCP-2.5.0.lightstreamer.com"
END_OF_HEAD = b"\r\n\r\n"
MOST_HEAD_BYTES = 16_384
"""Of a gateway's answer to the request for a WebSocket."""
_CLIENT_ID = "mgQkwtwdysogQz2BJ4Ji kOj2Bg"
"""What clients that are not Lightstreamer's own have to say."""
_KEY_BYTES = 16
_MOST_SAID = 200


def requests_of(
    access: GatewayAccess, item: str, fields: tuple[str, ...], frequency: float | str
) -> list[bytes]:
    """Hello, a new session, one subscription. All at once: answers come in order."""
    wanted = {
        "LS_reqId": "1",
        "LS_op": "add",
        "LS_subId": "1",
        "LS_mode": access.mode,
        "LS_group": item,
        "LS_schema": " ".join(fields),
        "LS_snapshot": "false",
        "LS_requested_max_frequency": frequency if isinstance(frequency, str) else f"{frequency:g}",
        "LS_ack": "false",
    }
    if access.data_adapter is not None:
        wanted["LS_data_adapter"] = access.data_adapter
    session = {"LS_adapter_set": access.adapter_set, "LS_cid": _CLIENT_ID, "LS_send_sync": "false"}
    if access.user is not None:
        session["LS_user"] = access.user
    if access.password is not None:
        session["LS_password"] = access.password
    return [
        b"wsok",
        b"create_session\r\n" + _parameters(session),
        b"control\r\n" + _parameters(wanted),
    ]


def upgrade_request(address: GatewayAddress) -> tuple[bytes, bytes]:
    """For a WebSocket, with a key of its own; and that key."""
    key = base64.b64encode(os.urandom(_KEY_BYTES))
    host = f"[{address.host}]" if ":" in address.host else address.host
    request = (
        f"GET {PATH} HTTP/1.1\r\nHost: {host}:{address.port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key.decode()}\r\n"
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    )
    return request.encode(), key


def check_upgraded(head: bytes, key: bytes) -> None:
    """ConnectionError unless the answer says that this is a WebSocket now."""
    status, *lines = head.decode(errors="replace").split("\r\n")
    version, _, code = status.partition(" ")
    if not version.startswith("HTTP/1.") or code[:3] != "101":
        raise ConnectionError(f"the gateway gives no WebSocket: it answers {status[:_MOST_SAID]!r}")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("sec-websocket-accept") != accepted_key(key):
        raise ConnectionError("the gateway gives no WebSocket: Sec-WebSocket-Accept does not fit the key")


def _parameters(given: dict[str, str]) -> bytes:
    return "&".join(f"{name}={encode_request_value(value)}" for name, value in given.items()).encode()
