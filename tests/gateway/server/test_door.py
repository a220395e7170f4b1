"""How connections come in, before they have said anything."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from streamgauge.gateway.server.budget import Budget, Reason
from streamgauge.gateway.server.door import Door
from streamgauge.gateway.server.http_exchanges import HttpExchanges
from streamgauge.gateway.server.metrics import Counters
from streamgauge.gateway.server.settings import Limits

from ..connector.certificates import authority, signed_by
from .raw_client import WebSocket, connect
from .running import running


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, str]:
    signed = signed_by(authority(), "gateway")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_bytes(signed.pem())
    key.write_bytes(signed.key_pem())
    return {"tls_certificate": str(certificate), "tls_key": str(key)}


def test_who_does_not_finish_the_handshake_has_a_place_and_makes_room(tls: dict[str, str]) -> None:
    with running({**tls, "limits": {"connections": 20}}) as server, WebSocket(server, tls=True) as before:
        before.open_session()
        before.subscribe("item")
        silent = [connect(server) for _ in range(60)]
        budget = server.server.gateway.budget
        server.wait_until(lambda: budget.dropped[Reason.CROWDED] >= 41)
        assert server.metric("connections") == 20
        assert server.metric("connections_without_session") == 19
        with WebSocket(server, tls=True) as newcomer:
            newcomer.open_session()
            newcomer.subscribe("item")
            server.publish("item", {"n": "1"})
            assert before.line() == newcomer.line() == "U,1,1,1"
        assert sum(each.recv(1) == b"" for each in silent[:41]) == 41


def test_a_handshake_has_a_deadline_and_must_be_one(
    tls: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with running({**tls, "limits": {"connect_deadline": "300ms"}}) as server:
        connect(server)
        connect(server).sendall(b"GET / HTTP/1.1\r\n\r\n")
        dropped = server.server.gateway.budget.dropped
        server.wait_until(lambda: dropped[Reason.UNFINISHED] == dropped[Reason.RULES] == 1)
        assert server.metric("connections") == 0
    assert caplog.records == []


class Noting(asyncio.Protocol):
    arrival = None


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        made.setblocking(False)
        yield made


def test_not_all_who_wait_come_in_at_once(listener: socket.socket) -> None:
    made, seen = list[Any](), list[int]()

    def make() -> HttpExchanges:
        made.append(Noting())
        return cast(HttpExchanges, made[-1])

    async def run() -> None:
        door = Door(listener, Budget(Limits(), Counters()), make, None)
        listener.listen(100)
        waiting = [socket.create_connection(listener.getsockname()) for _ in range(50)]
        door.open()
        async with asyncio.timeout(10):
            while len(made) < 50:
                await asyncio.sleep(0)
                seen.append(len(made))
        door.close()
        for each in waiting:
            each.close()

    asyncio.run(run())
    assert max(later - sooner for sooner, later in zip([0, *seen], seen, strict=False)) <= 8
