"""Who shares a frame with whom, and what becomes of those who cannot keep up."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from .raw_client import WebSocket
from .running import Running, running

LIMITS: dict[str, Any] = {"backlog_bytes": 20_000, "unread_deadline": "30s"}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running({"limits": LIMITS}) as started:
        yield started


@pytest.fixture
def clients(server: Running) -> Iterator[list[WebSocket]]:
    with ExitStack() as stack:
        made = [stack.enter_context(WebSocket(server)) for _ in range(20)]
        for client in made:
            client.open_session()
        yield made
        for client in made:
            if client.socket.fileno() >= 0:
                client.send("control\r\nLS_reqId=99&LS_op=destroy")
        server.wait_until(lambda: not server.server.gateway.sessions)


def cohorts(server: Running) -> list[int]:
    """How many members they have, the largest first."""
    return server.call(
        lambda: sorted((len(c.members) for c in server.server.gateway.delivery.cohorts.all()), reverse=True)
    )


def test_a_frame_is_built_once_for_all_who_get_the_same(server: Running, clients: list[WebSocket]) -> None:
    for client in clients:
        client.subscribe("shared")
    server.publish("shared", {"n": "0"})
    assert [client.line() for client in clients] == ["U,1,1,0"] * 20
    assert cohorts(server) == [20]
    built, sent = server.metric("frames_built_total"), server.metric("frames_total")
    for n in range(1, 6):
        server.publish("shared", {"n": str(n)})
        assert [client.line() for client in clients] == [f"U,1,1,{n}"] * 20
    assert server.metric("frames_built_total") - built == 5
    assert server.metric("frames_total") - sent == 100


def test_what_is_pending_goes_in_one_frame(server: Running, clients: list[WebSocket]) -> None:
    client = clients[0]
    client.subscribe("joined a", schema="n m")
    built = server.metric("frames_built_total")
    server.publish("joined", *[{"n": str(n), "m": "x"} for n in range(50)])
    assert len(client.lines(50)) == 50
    assert server.metric("frames_built_total") - built == 1


def test_who_follows_something_else_leaves_the_others_and_may_come_back(
    server: Running, clients: list[WebSocket]
) -> None:
    for client in clients:
        client.subscribe("first")
    server.publish("first", {"n": "0"})
    for client in clients:
        client.line()
    assert cohorts(server) == [20]
    clients[3].subscribe("second", sub=2)
    assert cohorts(server) == [19, 1]
    clients[4].subscribe("second", sub=2)
    server.publish("second", {"n": "0"})
    assert [clients[3].line(), clients[4].line()] == ["U,2,1,0"] * 2
    assert cohorts(server) == [18, 2]
    server.publish("first", {"n": "1"})
    assert [client.line() for client in clients] == ["U,1,1,1"] * 20
    for client in (clients[3], clients[4]):
        client.send("control\r\nLS_reqId=3&LS_op=delete&LS_subId=2&LS_ack=false")
        assert client.line() == "UNSUB,2"
    server.publish("first", {"n": "2"})
    assert [client.line() for client in clients] == ["U,1,1,2"] * 20
    assert cohorts(server) == [20]


def test_newcomers_catch_up_and_join(server: Running, clients: list[WebSocket]) -> None:
    early, late = clients[:10], clients[10:]
    for client in early:
        client.subscribe("grown", schema="n m", more="&LS_snapshot=true")
    server.publish("grown", {"n": "0", "m": "x"})
    for client in early:
        client.line()
    for client in late:
        client.subscribe("grown", schema="n m", more="&LS_snapshot=true")
        assert client.line() == "U,1,1,0|x"
    server.publish("grown", {"n": "1", "m": "x"})
    assert [client.line() for client in clients] == ["U,1,1,1|"] * 20
    assert cohorts(server) == [20]


def test_clients_that_ask_for_the_same_frequency_share_frames_too(
    server: Running, clients: list[WebSocket]
) -> None:
    for client in clients:
        client.subscribe("slowly", more="&LS_requested_max_frequency=20")
    server.publish("slowly", {"n": "0"})
    for client in clients:
        assert client.line() == "U,1,1,0"
    assert cohorts(server) == [20]
    server.publish("slowly", {"n": "1"}, {"n": "2"}, {"n": "3"})
    assert [client.line() for client in clients] == ["U,1,1,3"] * 20


def test_a_reader_that_stalls_is_left_behind_conflated_and_caught_up(
    server: Running, clients: list[WebSocket]
) -> None:
    stalled, others = clients[0], clients[1:]
    stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    for client in clients:
        client.subscribe("heavy", schema="n filler")
    published = 0
    while server.metric("sessions_behind") == 0 or published % 50:
        server.publish("heavy", {"n": str(published), "filler": f"{published:04d}" * 2500})
        for client in others:
            assert client.line().startswith(f"U,1,1,{published}|")
        published += 1
    held = server.call(
        lambda: [
            c._held_bytes
            for c in server.server.gateway.delivery.cohorts.all()
            if c.behind_since_ns is not None
        ]
    )
    assert len(held) == 1
    assert held[0] <= LIMITS["backlog_bytes"]
    assert cohorts(server) == [19, 1]
    # It reads again: what it gets is in order, ends with the newest, and is less than all.
    got: list[Any] = []
    while not got or got[-1] != str(published - 1):
        got.append(stalled.line().split(",")[3].split("|")[0])
    assert got == sorted(got, key=int)
    assert len(got) < published
    server.wait_until(lambda: cohort_count(server) == 1)
    server.publish("heavy", {"n": "end", "filler": "x"})
    assert [client.line() for client in clients] == ["U,1,1,end|x"] * 20


def cohort_count(server: Running) -> int:
    return len(server.server.gateway.delivery.cohorts)


@pytest.mark.parametrize("count", [1, 3])
def test_a_batch_larger_than_a_socket_arrives_whole_and_in_order(
    server: Running, clients: list[WebSocket], count: int
) -> None:
    item = f"batch-{count}"
    for client in clients[:count]:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        client.subscribe(item, schema="n filler", more="&LS_requested_max_frequency=unfiltered")
    events = [{"n": str(n), "filler": f"{n:04d}" * 2500} for n in range(200)]
    server.publish(item, *events)
    assert server.metric("sessions_behind") == count
    for client in clients[:count]:
        assert client.lines(200) == [f"U,1,1,{event['n']}|{event['filler']}" for event in events]
    server.publish(item, {"n": "end", "filler": "x"})
    assert [client.line() for client in clients[:count]] == ["U,1,1,end|x"] * count


def test_unfiltered_losses_are_announced(server: Running, clients: list[WebSocket]) -> None:
    stalled = clients[0]
    stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    stalled.subscribe("lossy", schema="n filler", more="&LS_requested_max_frequency=unfiltered")
    published = 0
    while published < 100 or server.metric("sessions_behind") == 0:
        server.publish("lossy", *[{"n": str(published + n), "filler": str(n) * 9000} for n in range(10)])
        published += 10
    events, lost, last = 0, 0, ""
    while last != str(published - 1):
        line = stalled.line()
        if line.startswith("OV,1,1,"):
            lost += int(line.split(",")[3])
        else:
            events += 1
            last = line.split(",")[3].split("|")[0]
    assert lost > 0
    assert events + lost == published
    assert server.metric("events_lost_total") >= lost


def test_a_connection_that_takes_nothing_is_dropped_and_its_session_can_be_recovered() -> None:
    settings = {"limits": {"unread_deadline": "1s", "recovery_bytes": "8MiB"}}
    with running(settings) as server, WebSocket(server) as stalled:
        stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        session = stalled.open_session()
        stalled.subscribe("stuck", schema="n")
        for letter in itertools.cycle("xy"):
            server.publish("stuck", {"n": letter * 50_000})
            if server.metric("sessions_behind"):
                break
        server.wait_until(lambda: server.server.gateway.sessions[session].link is None)
        assert server.metric("connections_dropped_total") + server.metric("sessions") >= 1
        with WebSocket(server) as again:
            again.send(f"bind_session\r\nLS_session={session}&LS_recovery_from=2")
            lines = again.until("PROG")
            assert lines[-1] == "PROG,2"
            assert again.line().startswith("U,1,1,xxx")


def test_signs_of_life_come_when_nothing_else_does() -> None:
    with (
        running({"keepalive_millis": 1000}) as server,
        WebSocket(server) as client,
        WebSocket(server) as limited,
    ):
        client.open_session()
        limited.open_session("&LS_requested_max_bandwidth=1")
        for each in (client, limited):
            assert each.frame()[1] == b"PROBE\r\n"
            assert each.frame()[1] == b"PROBE\r\n"


def test_who_wants_to_know_the_time_is_told() -> None:
    with running() as server, WebSocket(server) as client:
        client.send("create_session\r\nLS_adapter_set=TEST")
        client.until("CONS")
        server.call(server.server._housekeeping._sync, 0)
        assert client.line().startswith("SYNC,")


def test_who_promised_to_say_something_and_does_not_is_dropped() -> None:
    with running() as server, WebSocket(server) as silent:
        session = silent.open_session("&LS_inactivity_millis=1000")

        def much_later() -> None:
            alive = server.server.gateway.sessions[session]
            alive.last_request_ns -= 7_000_000_000
            server.server._housekeeping._sync(time.monotonic_ns())

        server.call(much_later)
        server.wait_until(lambda: server.server.gateway.sessions[session].link is None)


def test_updates_may_wait_for_others_to_share_their_frame() -> None:
    with running({"max_delay_millis": 1000}) as server, WebSocket(server) as client:
        client.open_session()
        client.subscribe("waiting")
        built = server.metric("frames_built_total")
        server.publish_one_by_one("waiting", {"n": "1"}, {"n": "2"}, {"n": "3"})
        assert client.lines(3) == ["U,1,1,1", "U,1,1,2", "U,1,1,3"]
        assert server.metric("frames_built_total") - built == 1
