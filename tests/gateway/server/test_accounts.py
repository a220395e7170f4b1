"""Budgets of a running gateway: what is past them is put off or dropped, and nobody else notices."""

from __future__ import annotations

import gc
import socket
import time
from typing import Any

import pytest

from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.server import Page

from .client_frames import PING, frame
from .raw_client import WebSocket, connect, get, leave_open
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
        frames = 1000 * frame(b"", PING)
        for _ in range(2000):
            busy.socket.sendall(frames)
            if server.server.gateway.counters.reads_delayed:
                break
        assert server.metric("reads_delayed_total") >= 1
        assert server.metric("cpu_used_of_connection") > server.metric("cpu_used_of_address")
        still_gets(client, server, 1)
        assert get(server.monitoring, "/healthz").body == "ok\n"


def test_what_comes_along_with_too_many_requests_waits_too() -> None:
    request = frame(b"control\r\nLS_reqId=1&LS_op=delete&LS_subId=7")
    with running({"limits": {"requests_per_s": 20}}) as server, WebSocket(server) as client:
        counters = server.server.gateway.counters
        client.socket.sendall(100 * request)
        server.wait_until(lambda: counters.requests >= 20)
        assert counters.requests < 60
        assert server.metric("kept_bytes") >= 40 * len(request)
        answers = [client.line() for _ in range(30)]
        assert all(each.startswith("REQERR,1,") for each in answers)


ONE_BY_ONE = 50 * frame(b"control\r\nLS_reqId=1&LS_op=delete&LS_subId=7")
ALL_IN_ONE = frame(b"control\r\n" + b"\r\n".join(50 * [b"LS_reqId=1&LS_op=delete&LS_subId=7"]))
BODY = "\r\n".join(50 * ["LS_reqId=1&LS_op=delete&LS_subId=7"])
POST = (
    "POST /lightstreamer/control.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1\r\n"
    f"Host: x\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}"
)


@pytest.mark.parametrize("sent", [ONE_BY_ONE, ALL_IN_ONE, POST.encode()], ids=["messages", "message", "POST"])
def test_who_sends_much_at_once_takes_turns_with_others(sent: bytes) -> None:
    """Each request takes longer than a slice: another connection's is dealt with before the last, in however
    few messages they come; and so is what a source publishes."""
    with running({"limits": {"requests_per_s": UNLIMITED}}) as server, WebSocket(server) as modest:
        control, order = server.server.reception._control, list[str]()
        carry_out = control.carry_out

        def slowly(*given: Any, **named: Any) -> Any:
            order.append("request")
            time.sleep(0.005)
            return carry_out(*given, **named)

        modest.open_session()
        modest.subscribe("item")
        control.carry_out = slowly  # type: ignore[method-assign]
        control.alive = lambda session_id: order.append("heartbeat")  # type: ignore[method-assign]
        greedy = connect(server) if sent.startswith(b"POST") else WebSocket(server).socket
        greedy.sendall(sent)
        server.wait_until(lambda: order)
        modest.send("heartbeat\r\n")
        server.publish("item", {"n": "1"})
        assert modest.line() == "U,1,1,1"
        seen = len(order)
        server.wait_until(lambda: order.count("request") == 50)
        assert seen < 40
        assert "heartbeat" in order[:-10]
        leave_open(greedy)
        greedy.close()


def test_a_session_that_follows_thousands_of_items_ends_a_slice_at_a_time() -> None:
    limits = {"requests_per_s": UNLIMITED, "cpu_slice": "1us"}
    with running({"limits": limits}) as server, WebSocket(server) as client:
        gateway, turns = server.server.gateway, server.server.gateway.budget.turns
        client.open_session()
        for sub in range(1, 11):
            client.subscribe("%20".join(f"i{sub}x{n}" for n in range(100)), sub=sub)
        [session] = gateway.sessions.values()

        def drop() -> tuple[int, int]:
            gateway.drop(session)
            return len(turns), len(server.source.subscribed)

        waiting, subscribed = server.call(drop)
        assert waiting >= 1
        assert subscribed >= 800
        server.wait_until(lambda: not server.source.subscribed)


def test_requests_that_are_refused_leave_nothing_for_the_collector() -> None:
    """It holds up everybody while it looks."""
    bad = f"LS_reqId=1&LS_message=m&LS_sequence={'s' * 1000}&LS_msg_prog=1"
    with running({"limits": {"requests_per_s": UNLIMITED}}) as server, WebSocket(server) as client:
        client.open_session()
        gc.collect()
        gc.disable()
        try:
            for _ in range(10):
                client.send("msg\r\n" + "\r\n".join([bad] * 30))
                client.lines(30)
            assert server.call(gc.collect) < 300
        finally:
            gc.enable()


def test_before_anybody_has_logged_in_too() -> None:
    limits = {"cpu_share": 0.001, "cpu_window": "1s"}
    pages = {"/page": Page("text/plain", b"a page")}
    with running({"limits": limits}, pages=pages) as server:
        raw = connect(server)
        raw.sendall(b"GET /page HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        gateway = server.server.gateway
        # Which of the two depends on how fast the machine is.
        server.wait_until(lambda: gateway.counters.reads_delayed or gateway.budget.dropped[Reason.CPU])
        assert get(server.monitoring, "/healthz").body == "ok\n"


def test_an_account_ends_with_its_connection() -> None:
    with running() as server:
        with witness(server), WebSocket(server), unfinished_head(server):
            server.wait_until(lambda: len(server.server.gateway.budget.crowd) == 3)
        server.wait_until(lambda: not len(server.server.gateway.budget.crowd))
        server.wait_until(lambda: not server.server.websockets)
        assert server.metric("kept_bytes") == 0
