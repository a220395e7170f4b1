"""Budgets of a running gateway: what is past them is put off or dropped, and nobody else notices."""

from __future__ import annotations

import socket

import pytest

from streamgauge.gateway.server.budget import Reason

from .raw_client import PING, WebSocket, connect, get
from .running import Running, running

UNLIMITED = 10_000_000


def drops(server: Running, reason: str) -> float:
    return server.metric(f'drops_total{{process="0",reason="{reason}"}}')


def witness(server: Running) -> WebSocket:
    client = WebSocket(server)
    client.open_session()
    client.subscribe("item")
    return client


def still_gets(client: WebSocket, server: Running, n: int) -> None:
    server.publish("item", {"n": str(n)})
    assert client.line() == f"U,1,1,{n}"


def sent_before_the_server_stops_reading(raw: socket.socket, data: bytes) -> int:
    raw.settimeout(0.5)
    for sent in range(2000):
        try:
            raw.sendall(data)
        except TimeoutError:
            return sent
    return 2000


def unfinished_head(server: Running) -> socket.socket:
    raw = connect(server)
    raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 15_000)
    return raw


def unfinished_message(server: Running) -> socket.socket:
    client = WebSocket(server)
    client.send_frame(b"x" * 15_000, fin=False)
    return client.socket


@pytest.mark.parametrize("begin", [unfinished_head, unfinished_message])
@pytest.mark.parametrize(
    ("limit", "reason"),
    [("kept_bytes_of_address", "kept_bytes_of_address"), ("kept_bytes_of_all", "kept_bytes_of_all")],
)
def test_what_many_begin_and_do_not_end_is_not_kept_without_bounds(
    begin: object, limit: str, reason: str
) -> None:
    assert callable(begin)
    with running({"limits": {limit: 100_000}}) as server, witness(server) as client:
        raws = [begin(server) for _ in range(12)]
        server.wait_until(lambda: server.server.gateway.budget.dropped)
        server.wait_until(lambda: sum(server.server.gateway.budget.dropped.values()) == len(raws) - 6)
        assert server.metric("kept_bytes") <= 100_000
        assert drops(server, reason) == len(raws) - 6
        still_gets(client, server, 1)


def test_who_keeps_the_processor_busy_is_read_later_and_others_are_not() -> None:
    limits = {"requests_per_s": UNLIMITED, "cpu_share": 0.05, "cpu_window": "4s"}
    with running({"limits": limits}) as server, witness(server) as client, WebSocket(server) as busy:
        frames = b"".join(bytes([0x80 | PING, 0x80]) + bytes(4) for _ in range(1000))
        assert sent_before_the_server_stops_reading(busy.socket, frames) < 2000
        assert server.metric("reads_delayed_total") >= 1
        assert server.metric("cpu_used_of_connection") > server.metric("cpu_used_of_address")
        still_gets(client, server, 1)
        assert get(server, "/healthz").body == "ok\n"


def test_before_anybody_has_logged_in_too() -> None:
    limits = {"cpu_share": 0.001, "cpu_window": "1s"}
    with running({"limits": limits}) as server:
        raw = connect(server)
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        gateway = server.server.gateway
        # Which of the two depends on how fast the machine is.
        server.wait_until(lambda: gateway.counters.reads_delayed or gateway.budget.dropped[Reason.CPU])
        assert get(server, "/healthz").body == "ok\n"


def test_an_account_ends_with_its_connection() -> None:
    with running() as server:
        with witness(server), WebSocket(server), unfinished_head(server):
            server.wait_until(lambda: len(server.server.gateway.budget.crowd) == 3)
        server.wait_until(lambda: not len(server.server.gateway.budget.crowd))
        server.wait_until(lambda: not server.server.websockets)
        assert server.metric("kept_bytes") == 0
