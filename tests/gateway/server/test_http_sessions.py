"""Sessions over HTTP: streaming, polling, control requests, pages."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.server import Page

from .raw_client import Answer, Closed, WebSocket, connect, get, post
from .running import Running, running

CONTROL = b"POST /lightstreamer/control.txt HTTP/1.1\r\nHost: a\r\n"
CREATE = "LS_adapter_set=TEST&LS_cid=x&LS_send_sync=false"


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(pages={"/demo": Page("text/html", b"<p>hello")}) as started:
        yield started


def create(server: Running, more: str = "") -> tuple[str, Answer]:
    answer = post(server, "create_session", CREATE + more)
    assert answer.status == 200
    line = answer.line()
    assert line is not None
    assert line.startswith("CONOK,")
    while line is not None and not line.startswith("CONS"):
        line = answer.line()
    return _session(answer, server), answer


def _session(_: Answer, server: Running) -> str:
    return server.call(lambda: list(server.server.gateway.sessions)[-1])


def control(server: Running, session: str, body: str) -> str:
    answer = post(server, "control", body, query=f"LS_protocol=TLCP-2.5.0&LS_session={session}")
    assert answer.status == 200
    return answer.body


def subscribe(server: Running, session: str, item: str, more: str = "") -> None:
    body = f"LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group={item}&LS_schema=n{more}"
    assert control(server, session, body) == "REQOK,1\r\n"


def test_a_streaming_answer_brings_updates_as_they_come(server: Running) -> None:
    session, stream = create(server)
    subscribe(server, session, "streamed")
    assert [stream.line(), stream.line()] == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered"]
    for n in range(3):
        server.publish("streamed", {"n": str(n)})
        assert stream.line() == f"U,1,1,{n}"
    assert control(server, session, "LS_reqId=2&LS_op=destroy") == "REQOK,2\r\n"
    assert [line.split(",")[0] for line in stream.lines()] == ["END"]


def test_an_answer_ends_before_the_length_that_the_client_has_set(server: Running) -> None:
    session, stream = create(server, "&LS_content_length=10000")
    subscribe(server, session, "long")
    for n in range(12):
        server.publish("long", {"n": str(n) * 1000})
    lines = stream.lines()
    assert lines[-1] == "LOOP,0"
    received = [line for line in lines if line.startswith("U,")]
    assert 9 <= len(received) < 12
    rest = post(server, "bind_session", f"LS_session={session}")
    updates: list[Any] = []
    while len(received) + len(updates) < 12:
        line = rest.line()
        assert line is not None
        updates += [line] if line.startswith("U,") else []
    assert [line[6] for line in received + updates] == [str(n)[0] for n in range(12)]


def test_polling_brings_what_is_there_or_waits_for_it(server: Running) -> None:
    answer = post(
        server, "create_session", f"{CREATE}&LS_polling=true&LS_polling_millis=500&LS_idle_millis=0"
    )
    lines = answer.lines()
    assert lines[0].startswith("CONOK,")
    assert lines[0].split(",")[3] == "0"
    assert lines[-1] == "LOOP,500"
    session = lines[0].split(",")[1]
    subscribe(server, session, "polled")
    server.publish("polled", {"n": "1"}, {"n": "2"})
    poll = f"LS_session={session}&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_reduce_head=true"
    assert post(server, "bind_session", poll).lines() == [
        "CONS,unlimited",
        "SUBOK,1,1,1",
        "CONF,1,unlimited,filtered",
        "U,1,1,1",
        "U,1,1,2",
        "LOOP,0",
    ]
    assert post(server, "bind_session", poll).lines() == ["CONS,unlimited", "LOOP,0"]
    waiting = connect(server)
    body = poll.replace("idle_millis=0", "idle_millis=20000")
    waiting.sendall(
        f"POST /lightstreamer/bind_session.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1\r\nHost: x\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    stream = Answer(waiting)
    assert stream.line() == "CONS,unlimited"
    server.publish("polled", {"n": "3"})
    assert stream.lines() == ["U,1,1,3", "LOOP,0"]


def test_a_poll_that_finds_nothing_ends_after_its_time(server: Running) -> None:
    answer = post(server, "create_session", f"{CREATE}&LS_polling=true&LS_polling_millis=0&LS_idle_millis=50")
    assert answer.lines()[-1] == "LOOP,0"


def test_transports_can_be_mixed(server: Running) -> None:
    with WebSocket(server) as client:
        session = client.open_session()
        subscribe(server, session, "mixed")
        assert client.lines(2) == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered"]
        server.publish("mixed", {"n": "1"})
        assert client.line() == "U,1,1,1"
        assert control(server, session, "LS_reqId=2&LS_op=force_rebind") == "REQOK,2\r\n"
        assert client.line() == "LOOP,0"
        stream = post(server, "bind_session", f"LS_session={session}")
        server.publish("mixed", {"n": "2"})
        lines = [stream.line() for _ in range(5)]
        assert lines[-1] == "U,1,1,2"
    assert control(server, session, "LS_reqId=3&LS_op=destroy") == "REQOK,3\r\n"


def test_several_control_requests_share_a_post_and_a_connection_several_posts(server: Running) -> None:
    session, stream = create(server)
    raw = connect(server)
    query = f"LS_protocol=TLCP-2.5.0&LS_session={session}"
    body = "LS_reqId=1&LS_op=delete&LS_subId=1\r\nLS_reqId=2&LS_op=constrain\r\nnonsense"
    for _ in range(2):
        answer = post(server, "control", body, query=query, on=raw)
        assert answer.headers["connection"] == "keep-alive"
        assert answer.body.split("\r\n") == [
            "REQERR,1,19,there is no subscription 1",
            "REQOK,2",
            "ERROR,67,a parameter is not of the form name=value",
            "",
        ]
    assert post(server, "heartbeat", "", query=query, on=raw).body == "REQOK\r\n"
    assert control(server, session, "LS_reqId=2&LS_op=destroy") == "REQOK,2\r\n"
    assert stream.lines()[-1].startswith("END")


def _send_control(server: Running, raw: socket.socket, session: str, body: str) -> None:
    """Without waiting for the answer."""
    raw.sendall(
        f"POST /lightstreamer/control.txt?LS_protocol=TLCP-2.5.0&LS_session={session} HTTP/1.1\r\nHost: x\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )


def test_a_subscription_by_http_is_told_when_its_source_is_ready() -> None:
    """And what was asked for behind it, in the same request and in the next, waits."""
    with running() as server:
        session, stream = create(server)
        server.source.has_to_prepare = True
        raw = connect(server)
        add = "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item&LS_schema=n"
        _send_control(server, raw, session, f"{add}\r\nLS_reqId=2&LS_op=delete&LS_subId=9")
        _send_control(server, raw, session, "LS_reqId=3&LS_op=delete&LS_subId=9")
        server.wait_until(lambda: server.source.waiting)
        server.source.has_to_prepare = False
        assert server.source.subscribed == []
        other, _ = create(server)
        subscribe(server, other, "another")  # Nobody else waits.
        server.publish("item", {"n": "too early"})
        [ready] = server.source.waiting
        server.call(ready)
        first = Answer(raw)
        assert first.body == "REQOK,1\r\nREQERR,2,19,there is no subscription 9\r\n"
        assert Answer(raw, first.rest).body == "REQERR,3,19,there is no subscription 9\r\n"
        assert [stream.line(), stream.line()] == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered"]
        server.publish("item", {"n": "1"})
        assert stream.line() == "U,1,1,1"


def test_who_has_gone_by_http_while_its_source_got_ready_subscribes_nothing() -> None:
    with running() as server:
        session, _ = create(server)
        server.source.has_to_prepare = True
        raw = connect(server)
        _send_control(
            server, raw, session, "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=i&LS_schema=n"
        )
        server.wait_until(lambda: server.source.waiting)
        before = server.call(lambda: len(server.server.connections))
        # Nobody reads from a connection that waits, so it has to be cut to be noticed.
        [waiting] = server.call(lambda: [c for c in server.server.connections if not c.is_streaming])
        server.call(waiting.drop, Reason.IDLE)
        server.wait_until(lambda: len(server.server.connections) < before)
        [ready] = server.source.waiting
        server.call(ready)
        assert server.source.subscribed == []


def test_requests_may_follow_without_waiting_for_answers(server: Running) -> None:
    raw = connect(server)
    raw.sendall(b"GET /demo HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
    answer = Answer(raw)
    for _ in range(2):
        assert answer.body == "<p>hello"
        answer = Answer(raw, answer.rest)
    assert answer.body == "<p>hello"


def test_a_whole_day_of_http_1_0(server: Running) -> None:
    raw = connect(server)
    raw.sendall(
        f"POST /lightstreamer/create_session.txt?LS_protocol=TLCP-2.5.0 HTTP/1.0\r\n"
        f"Content-Length: {len(CREATE)}\r\n\r\n{CREATE}".encode()
    )
    received = b""
    while b"CONS," not in received:
        received += raw.recv(65_536)
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert body.startswith(b"CONOK,")
    session = body.split(b",")[1].decode()
    control(server, session, "LS_reqId=1&LS_op=destroy")
    while data := raw.recv(65_536):
        received += data
    assert b"END,31," in received


def test_pages(server: Running) -> None:
    demo = get(server, "/demo")
    assert (demo.status, demo.body, demo.headers["content-type"]) == (200, "<p>hello", "text/html")
    assert get(server, "/demo", method="HEAD").headers["content-length"] == "8"


@pytest.mark.parametrize(
    ("name", "body", "query", "answer"),
    [
        ("create_session", CREATE, "LS_protocol=TLCP-9.0.0", "CONERR,60,"),
        ("create_session", CREATE, "", "CONERR,60,"),
        ("control", "LS_reqId=1&LS_op=destroy", "LS_protocol=nonsense", "ERROR,67,"),
        ("create_session", "LS_adapter_set=OTHER", "LS_protocol=TLCP-2.5.0", "CONERR,2,"),
        ("create_session", b"LS_adapter_set=\xff", "LS_protocol=TLCP-2.5.0", "CONERR,67,"),
        ("control", b"\xff", "LS_protocol=TLCP-2.5.0", "ERROR,67,"),
        ("bind_session", "LS_session=nobody", "LS_protocol=TLCP-2.5.0", "CONERR,20,"),
        ("bind_session", "LS_session=nobody&LS_recovery_from=3", "LS_protocol=TLCP-2.5.0", "CONERR,20,"),
        ("control", "LS_reqId=1&LS_op=destroy", "LS_protocol=TLCP-2.5.0", "REQERR,1,20,"),
        ("control", "", "LS_protocol=TLCP-2.5.0", "ERROR,67,"),
        ("nonsense", "a=b", "LS_protocol=TLCP-2.5.0", "ERROR,67,unknown request"),
        ("wsok", "", "LS_protocol=TLCP-2.5.0", "ERROR,67,"),
    ],
)
def test_what_cannot_be_done_is_answered_with_a_code(
    server: Running, name: str, body: str | bytes, query: str, answer: str
) -> None:
    got = post(server, name, body, query=query)
    assert got.status == 200
    first = got.line() if got.headers.get("transfer-encoding") else got.body
    assert first is not None
    assert first.startswith(answer)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
        (b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nOrigin: a\nSet-Cookie: b\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nOrigin: a\rb\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nOrigin: a\x00\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nOrigin: a\r\n b\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n", 404),
        (b"DELETE /demo HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (b"GET /lightstreamer/control.txt HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (CONTROL + b"Transfer-Encoding: chunked\r\n\r\n", 411),
        (CONTROL + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 411),
        (CONTROL + b"Transfer-Encoding: gzip\r\n\r\n", 501),
        (CONTROL + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
        (CONTROL + b"Content-Length: -1\r\n\r\n", 400),
        (CONTROL + b"Content-Length: +3\r\n\r\nabc", 400),
        (CONTROL + b"Content-Length: 50001\r\n\r\n", 413),
        (b"GET /x HTTP/1.1\r\nHost: a\r\nlong: " + b"x" * 20_000 + b"\r\n\r\n", 431),
        (b"GET /elsewhere HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", 404),
        (b"GET /lightstreamer HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", 400),
    ],
)
def test_bad_http_is_answered_and_the_connection_closed(
    server: Running, request_bytes: bytes, status: int
) -> None:
    raw = connect(server)
    raw.sendall(request_bytes)
    answer = Answer(raw)
    assert answer.status == status
    assert answer.headers["connection"] == "close"
    assert "set-cookie" not in answer.headers
    assert raw.recv(100) == b""


def test_a_client_that_asks_before_it_sends_a_body_is_told_to_go_on(server: Running) -> None:
    raw = connect(server)
    body = b"LS_reqId=1&LS_op=destroy"
    raw.sendall(
        b"POST /lightstreamer/control.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1\r\nHost: a\r\n"
        b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    assert raw.recv(1000).startswith(b"HTTP/1.1 100 ")
    raw.sendall(body)
    assert Answer(raw).body.startswith("REQERR,1,20,")


def test_a_request_may_come_byte_by_byte(server: Running) -> None:
    raw = connect(server)
    body = b"LS_reqId=1&LS_op=destroy"
    request = CONTROL.replace(b".txt", b".txt?LS_protocol=TLCP-2.5.0")
    for byte in request + b"Content-Length: %d\r\n\r\n" % len(body) + body:
        raw.sendall(bytes([byte]))
    assert Answer(raw).body.startswith("REQERR,1,20,")


@pytest.mark.parametrize("key", ["", "short"])
def test_a_websocket_handshake_without_a_proper_key_is_refused(server: Running, key: str) -> None:
    raw = connect(server)
    raw.sendall(
        f"GET /lightstreamer HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com\r\n"
        f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
    )
    assert Answer(raw).status == 400


def test_an_unknown_subprotocol_is_refused(server: Running) -> None:
    for offer in ("TLCP-2.9.0.lightstreamer.com", "chat", None):
        with WebSocket(server, protocol=offer) as client:
            assert client.head.startswith("HTTP/1.1 400")
            with pytest.raises(Closed):
                client.frame()
