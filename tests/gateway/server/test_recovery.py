"""Sessions whose connection ended or broke."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .raw_client import Closed, WebSocket, post
from .running import Running, running


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running({"limits": {"recovery_bytes": 4096}}) as started:
        yield started


RECOVERY = "&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"


def recover(server: Running, session: str, count: int) -> list[str]:
    """As official clients do it: by HTTP, everything there is, then the end of the body."""
    return post(server, "bind_session", f"LS_session={session}&LS_recovery_from={count}{RECOVERY}").lines()


def test_what_was_on_its_way_is_sent_again_and_nothing_twice(server: Running) -> None:
    with WebSocket(server) as client:
        session = client.open_session()
        client.subscribe("cut", schema="n m")
        for n in range(3):
            server.publish("cut", {"n": str(n), "m": "x"})
        assert client.lines(3) == ["U,1,1,0|x", "U,1,1,1|", "U,1,1,2|"]
        server.cut()
        with pytest.raises(Closed):
            client.line()
    server.publish("cut", {"n": "3", "m": "x"})
    # SUBOK, CONF and one update have arrived.
    lines = recover(server, session, 3)
    assert lines[0].startswith(f"CONOK,{session},50000,0,*")
    assert lines[-5:] == ["PROG,3", "U,1,1,1|", "U,1,1,2|", "U,1,1,3|", "LOOP,0"]
    server.publish("cut", {"n": "4", "m": "x"})
    with WebSocket(server) as client:
        client.send(f"bind_session\r\nLS_session={session}&LS_cause=recovery.loop")
        assert client.until("CONS")[0].startswith(f"CONOK,{session},")
        assert client.line() == "U,1,1,4|"


def test_recovery_takes_a_session_from_a_connection_that_seems_alive(server: Running) -> None:
    with WebSocket(server) as mute, WebSocket(server) as other:
        session = mute.open_session()
        mute.subscribe("taken")
        server.publish("taken", {"n": "1"})
        mute.line()
        other.send(f"bind_session\r\nLS_session={session}&LS_recovery_from=2")
        assert other.until("PROG")[-1] == "PROG,2"
        assert other.line() == "U,1,1,1"
        with pytest.raises(Closed):
            mute.line()
        server.publish("taken", {"n": "2"})
        assert other.line() == "U,1,1,2"


def test_lines_of_a_shared_stream_are_recovered_by_each_of_its_sessions(server: Running) -> None:
    with WebSocket(server) as first, WebSocket(server) as second:
        sessions = [first.open_session(), second.open_session()]
        first.subscribe("both")
        server.publish("both", {"n": "0"})
        first.line()
        second.subscribe("both", more="&LS_snapshot=true")
        second.line()
        for n in range(1, 4):
            server.publish("both", {"n": str(n)})
            assert [first.line(), second.line()] == [f"U,1,1,{n}"] * 2
        server.cut()
    server.wait_until(lambda: all(server.server.gateway.sessions[s].link is None for s in sessions))
    for session in sessions:
        assert recover(server, session, 3)[-5:] == ["PROG,3", "U,1,1,1", "U,1,1,2", "U,1,1,3", "LOOP,0"]
        # All from the very first line on.
        assert recover(server, session, 0)[-7:-1] == [
            "SUBOK,1,1,1",
            "CONF,1,unlimited,filtered",
            *[f"U,1,1,{n}" for n in range(4)],
        ]


@pytest.mark.parametrize("count", [0, 1000])
def test_what_is_not_held_any_more_cannot_be_recovered(server: Running, count: int) -> None:
    with WebSocket(server) as client:
        session = client.open_session()
        client.subscribe("much")
        for n in range(20):
            server.publish("much", {"n": f"{n:0500d}"})
        client.lines(20)
    assert recover(server, session, count)[0].startswith("CONERR,4,")
    assert recover(server, session, count)[0].startswith("CONERR,20,")


def test_a_session_nobody_comes_back_to_is_given_up() -> None:
    with running({"session_recovery": "300ms", "session_timeout": "300ms"}) as server:
        with WebSocket(server) as client:
            client.open_session()
            client.subscribe("lost")
        with WebSocket(server) as client:
            client.open_session()
            client.subscribe("left", more="")
            client.send("control\r\nLS_reqId=1&LS_op=force_rebind&LS_polling_millis=100")
            client.until("LOOP")
        server.wait_until(lambda: not server.server.gateway.sessions)
        assert server.source.subscribed == []
        assert server.metric("sessions_lost_total") == 2


def test_a_client_that_starts_anew_gives_up_its_old_session(server: Running) -> None:
    with WebSocket(server) as client:
        old = client.open_session()
        server.cut()
    with WebSocket(server) as client:
        client.open_session(f"&LS_old_session={old}")
        assert old not in server.call(lambda: set(server.server.gateway.sessions))


def test_what_comes_while_a_session_is_away_is_kept_within_bounds() -> None:
    with running({"limits": {"backlog_bytes": 8000}}) as server:
        with WebSocket(server) as client:
            session = client.open_session()
            client.subscribe("busy a b", schema="n")
            server.publish("busy", {"n": "0"})
            client.line()
        server.wait_until(lambda: server.server.gateway.sessions[session].link is None)
        for n in range(1, 500):
            server.publish("busy", {"n": f"{n:0100d}"})
        held = server.call(lambda: server.server.gateway.sessions[session].cohort._held_bytes)
        assert held <= 8000
        lines = recover(server, session, 3)
        updates = [line for line in lines if line.startswith("U,")]
        assert updates[-1] == f"U,1,1,{499:0100d}"
        assert len(updates) < 100


def test_all_together_keep_only_so_much_and_who_has_least_keeps_it_all() -> None:
    limits = {"recovery_bytes": 100_000, "recovery_bytes_of_all": 50_000}
    with running({"limits": limits}) as server, WebSocket(server) as much, WebSocket(server) as little:
        sessions = [much.open_session(), little.open_session()]
        much.subscribe("much")
        little.subscribe("little")
        server.publish("little", {"n": "1"})
        little.line()
        for n in range(30):
            server.publish("much", {"n": f"{n}" * 5000})
            much.line()
            assert server.metric("recovery_bytes") <= 50_000
        assert server.metric("recoveries_cut_total") >= 1
        server.cut()
        server.wait_until(lambda: len(server.server.gateway.unbound) == 2)
        assert "CONERR,4," in recover(server, sessions[0], 2)[0]
        assert recover(server, sessions[1], 2)[-3:] == ["PROG,2", "U,1,1,1", "LOOP,0"]
