from __future__ import annotations

import pytest

from streamgauge.gateway.server.origins import Origins, is_loopback

from .raw_client import WebSocket, get, post
from .running import running

STRANGE = "https://strange.example"


@pytest.mark.parametrize(
    ("origin", "host", "may"),
    [
        (None, "anything", True),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://localhost:8080", "LOCALHOST:8080", True),
        ("https://gateway.example", "gateway.example", True),
        ("http://127.0.0.1:8080", "127.0.0.1:8081", False),
        ("http://127.0.0.1:3000", "127.0.0.1:8080", False),
        ("null", "null", False),
        ("", "", False),
        ("file://127.0.0.1", "127.0.0.1", False),
        # Its owner may let this name lead to 127.0.0.1, when the page has been loaded.
        ("http://rebound.example:8080", "rebound.example:8080", False),
    ],
)
def test_only_pages_of_our_own_may_come_where_none_are_named(
    origin: str | None, host: str, may: bool
) -> None:
    assert Origins((), "gateway.example").allows(origin, host) is may


def test_where_all_may_come_none_comes_in_a_user_s_name() -> None:
    origins = Origins(["*", "https://shop.example"])
    assert origins.allows(STRANGE)
    assert origins.headers(STRANGE) == (("Access-Control-Allow-Origin", "*"),)
    assert ("Access-Control-Allow-Credentials", "true") in origins.headers("https://shop.example")
    assert origins.headers(None) == ()


def test_a_strange_page_can_neither_use_nor_read_a_gateway_on_this_machine() -> None:
    header = f"Origin: {STRANGE}\r\n"
    with running() as server:
        with WebSocket(server, origin=STRANGE) as client:
            assert client.head.startswith("HTTP/1.1 403")
        for answer in (
            post(server, "create_session", "LS_adapter_set=TEST&LS_polling=true", headers=header),
            get(server, "/lightstreamer/control.txt", method="OPTIONS", headers=header),
        ):
            assert answer.status == 403
            assert "access-control-allow-origin" not in answer.headers
        # The raw client says that it came to this host.
        with WebSocket(server, origin="http://127.0.0.1") as client:
            assert client.is_upgraded
        with WebSocket(server, origin="http://127.0.0.1:3000") as client:
            assert client.head.startswith("HTTP/1.1 403")


def test_any_origin_is_answered_without_credentials() -> None:
    with running({"allowed_origins": ["*"]}) as server:
        answer = post(
            server, "create_session", "LS_adapter_set=TEST&LS_polling=true", headers=f"Origin: {STRANGE}\r\n"
        )
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
        with WebSocket(server, origin=STRANGE) as client:
            assert client.is_upgraded


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("gateway.example", False),
    ],
)
def test_where_only_this_machine_can_come(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
