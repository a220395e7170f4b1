"""The socket side: what comes too slowly, too long or too often is ended, and the others are answered."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.serve.http_server import Limits
from tests.waiting import wait_for

from .asking import Served, made_app, served

SMALL = Limits(connections=4, body_bytes=1000)
IMPATIENT = Limits(head_s=0.3, body_s=0.3)
HOME = b"GET /static/icon.svg HTTP/1.1\r\nHost: localhost\r\n"
CLOSE = b"Connection: close\r\n\r\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(made_app(tmp_path_factory.mktemp("http") / "runs"), SMALL) as running:
        yield running


def first_line(answer: bytes) -> str:
    return answer.partition(b"\r\n")[0].decode()


def test_requests_are_answered_one_after_another_on_one_connection(running: Served) -> None:
    answer = running.raw(HOME + b"\r\n" + HOME + CLOSE)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.count(b"</svg>") == 2


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 40_000 + b"\r\n\r\n", "431"),
        (b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n", "413"),
        (b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "411"),
        (b"GET / HTTP/1.1\nHost: localhost\n\n\r\n\r\n", "400"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "4"),
        (b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "400"),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        (b"GET /runs/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE, "421"),
        (b"GET / HTTP/1.1\r\n\r\n", "400"),
    ],
)
def test_what_is_no_request_of_ours_is_refused(running: Served, sent: bytes, status: str) -> None:
    answer = running.raw(sent)
    assert first_line(answer).split()[1].startswith(status)
    assert b"root:" not in answer


def test_who_is_slow_is_not_waited_for(tmp_path: Path) -> None:
    body = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\nabc"
    with served(made_app(tmp_path), IMPATIENT) as running:
        assert running.raw(b"GET / HT") == b"", "a head that does not come"
        assert running.raw(body) == b"", "a body that does not"


def test_so_many_connections_and_no_more(running: Served) -> None:
    idle = [socket.create_connection(("127.0.0.1", running.port), 60) for _ in range(SMALL.connections)]
    try:
        assert first_line(running.raw(HOME + CLOSE)).split()[1] == "503"
    finally:
        for connection in idle:
            connection.close()
    # They are gone: there is room again.
    wait_for(lambda: first_line(running.raw(HOME + CLOSE)).split()[1] == "200")


def test_a_fault_of_ours_is_not_told_to_who_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = made_app(tmp_path)

    def broken(*_: object) -> None:
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(app.safety, "check", broken)
    with served(app) as running:
        answer = running.raw(HOME + CLOSE)
    assert first_line(answer).split()[1] == "500"
    assert b"secret" not in answer
