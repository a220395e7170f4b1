from __future__ import annotations

import gc
from contextlib import suppress
from http import HTTPStatus

import h11
import pytest

from streamgauge.gateway.server.http_messages import BadHttp, Exchange, refusal


def exchange(*lines: str, request: str = "POST /p?a=b HTTP/1.1") -> Exchange:
    return Exchange("\r\n".join([request, "Host: h", *lines, "", ""]).encode("latin-1"))


def test_a_request_is_read_with_its_body() -> None:
    found = exchange("X-Twice: 1", "x-twice: 2", "Content-Length: 5")
    head = found.head
    assert (head.method, head.path, head.query, head.minor) == ("POST", "/p", "a=b", 1)
    assert head.headers == {"host": "h", "x-twice": "1, 2", "content-length": "5"}
    assert found.body_length(5) == 5
    assert found.body(b"hello") == b"hello"
    with pytest.raises(BadHttp) as refused:
        found.body_length(4)
    assert refused.value.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@pytest.mark.parametrize(
    "line", ["a: b\nc: d", "a: b\rc: d", "a: b\r\n c", "a: \x00", "a : b", ": b", "a: \x7f\x01"]
)
def test_what_others_would_read_differently_is_refused(line: str) -> None:
    with pytest.raises(BadHttp) as refused:
        exchange(line)
    assert refused.value.status == HTTPStatus.BAD_REQUEST


def test_an_answer_is_what_a_client_reads() -> None:
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "h")]))
    client.send(h11.EndOfMessage())
    client.receive_data(exchange().answer(HTTPStatus.OK, b"body", headers=[("X-Ours", "1")]))
    head, data, end = client.next_event(), client.next_event(), client.next_event()
    assert isinstance(head, h11.Response)
    assert isinstance(data, h11.Data)
    assert isinstance(end, h11.EndOfMessage)
    assert (head.status_code, bytes(data.data)) == (200, b"body")
    assert (b"x-ours", b"1") in list(head.headers)
    assert (b"connection", b"keep-alive") in list(head.headers)


def test_an_answer_cannot_be_given_another_header_by_a_line_end() -> None:
    with pytest.raises(h11.LocalProtocolError):
        exchange().answer(HTTPStatus.OK, headers=[("Access-Control-Allow-Origin", "a\nSet-Cookie: b")])


def test_heads_of_answers_that_go_on() -> None:
    assert b"transfer-encoding: chunked" in exchange().stream_head([]).lower()
    old = exchange(request="POST / HTTP/1.0").stream_head([]).lower()
    assert b"chunked" not in old
    assert b"connection: close" in old


def test_only_the_head_of_an_answer_to_head() -> None:
    told = exchange(request="HEAD / HTTP/1.1").answer(HTTPStatus.OK, b"body")
    assert told.lower().count(b"content-length: 4") == 1
    assert told.endswith(b"\r\n\r\n")


def test_a_refusal_closes() -> None:
    told = refusal(BadHttp(HTTPStatus.NOT_FOUND, "nothing"))
    assert told.startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert b"connection: close" in told.lower()
    assert told.endswith(b"\r\n\r\nnothing")


def test_a_request_that_is_refused_leaves_nothing_for_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        for _ in range(50):
            with suppress(BadHttp):
                Exchange(b"GET / HTTP/1.1\r\n\r\n")
        assert gc.collect() < 50
    finally:
        gc.enable()
