from __future__ import annotations

from http import HTTPStatus

import pytest

from streamgauge.gateway.server.http_messages import BadHttp
from streamgauge.gateway.server.websocket_handshake import handshake

GOOD = {
    "upgrade": "websocket",
    "connection": "Upgrade",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    "sec-websocket-protocol": "TLCP-2.5.0.lightstreamer.com",
}


def test_the_key_is_answered_as_in_the_specification() -> None:
    answer, name, _ = handshake(GOOD)
    assert b"\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in answer
    assert answer.endswith(f"\r\nSec-WebSocket-Protocol: {name}\r\n\r\n".encode())
    assert name == GOOD["sec-websocket-protocol"]


def test_a_browser_may_wish_to_keep_the_connection_alive_too() -> None:
    assert handshake({**GOOD, "connection": "keep-alive, Upgrade"})[0].startswith(b"HTTP/1.1 101 ")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"connection": "keep-alive"}, HTTPStatus.BAD_REQUEST),
        ({"sec-websocket-version": "8"}, HTTPStatus.UPGRADE_REQUIRED),
        ({"sec-websocket-key": "c2hvcnQ="}, HTTPStatus.BAD_REQUEST),
        ({"sec-websocket-key": "not base64 at all!"}, HTTPStatus.BAD_REQUEST),
        ({"sec-websocket-key": ""}, HTTPStatus.BAD_REQUEST),
        ({"sec-websocket-key": "ü" * 24}, HTTPStatus.BAD_REQUEST),
        ({"sec-websocket-protocol": "chat"}, HTTPStatus.BAD_REQUEST),
    ],
)
def test_what_is_refused(change: dict[str, str], status: HTTPStatus) -> None:
    with pytest.raises(BadHttp) as refused:
        handshake({**GOOD, **change})
    assert refused.value.status == status
    is_told = refused.value.headers == (("Sec-WebSocket-Version", "13"),)
    assert is_told is (status == HTTPStatus.UPGRADE_REQUIRED)
