"""Health and metrics, at an address of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .raw_client import WebSocket, connect, get
from .running import Running, running


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as started:
        yield started


def test_they_are_told_there(server: Running) -> None:
    assert get(server.monitoring, "/healthz").body == "ok\n"
    metrics = get(server.monitoring, "/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'streamgauge_gateway_connections_total{process="0"}' in metrics.body
    assert get(server.monitoring, "/").status == 404
    assert get(server.monitoring, "/healthz", method="POST").status == 405


def test_they_are_not_told_to_clients(server: Running) -> None:
    assert get(server, "/metrics").status == get(server, "/healthz").status == 404


def test_clients_have_no_business_there(server: Running) -> None:
    with WebSocket(server.monitoring) as client:
        assert client.head.startswith("HTTP/1.1 404")
    assert get(server.monitoring, "/lightstreamer/create_session.txt").status == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:1", 200),
        ("[::1]:1", 200),
        ("localhost", 200),
        ("LOCALHOST:8081", 200),
        ("page.example:8081", 403),
        ("127.0.0.1.page.example", 403),
        ("", 403),
    ],
)
def test_a_name_that_somebody_lets_lead_here_is_refused(server: Running, host: str, status: int) -> None:
    raw = connect(server.monitoring)
    raw.sendall(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert raw.recv(12) == f"HTTP/1.1 {status}".encode()


def test_pages_are_refused(server: Running) -> None:
    asked = get(server.monitoring, "/metrics", headers="Origin: http://127.0.0.1\r\n")
    assert asked.status == 403
    assert not [name for name in asked.headers if name.startswith("access-control")]


def test_where_whoever_runs_it_has_opened_it_names_are_allowed() -> None:
    with running({"monitoring_host": "0.0.0.0"}) as server:
        raw = connect(server.monitoring)
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: gateway.example\r\nConnection: close\r\n\r\n")
        assert raw.recv(12) == b"HTTP/1.1 200"


def test_a_request_that_does_not_come_to_an_end_is_dropped_there_too() -> None:
    with running({"limits": {"connect_deadline": "300ms"}}) as server:
        raw = connect(server.monitoring)
        raw.sendall(b"GET /metr")
        assert raw.recv(100) == b""
