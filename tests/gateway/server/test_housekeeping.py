from __future__ import annotations

from streamgauge.gateway.server.budget import Reason

from .raw_client import WebSocket, connect
from .running import running

COUNT = 30


def test_many_who_are_late_at_the_same_time_are_dropped_a_slice_at_a_time() -> None:
    """They come back at the same time, too: neither is to be done in one go."""
    with running({"limits": {"cpu_slice": "1us", "connect_deadline": "1h"}}) as server:
        silent = [connect(server) for _ in range(COUNT)]
        running_server = server.server
        server.wait_until(lambda: len(running_server.connections) == COUNT)

        def be_late() -> int:
            for connection in running_server.connections:
                connection.since_s -= 7200
            running_server._housekeeping.round()
            return running_server.gateway.budget.dropped[Reason.UNFINISHED]

        assert 0 < server.call(be_late) < COUNT
        server.wait_until(lambda: running_server.gateway.budget.dropped[Reason.UNFINISHED] == COUNT)
        assert all(each.recv(1) == b"" for each in silent)


def test_a_session_somebody_has_come_back_to_is_not_given_up() -> None:
    with running() as server, WebSocket(server) as client:
        session = client.open_session()
        gateway, housekeeping = server.server.gateway, server.server._housekeeping
        server.cut()
        server.wait_until(lambda: gateway.unbound)
        late_ns = gateway.sessions[session].deadline_ns
        waiting = housekeeping._give_up_sessions(late_ns)
        with WebSocket(server) as again:
            again.send(f"bind_session\r\nLS_session={session}&LS_recovery_from=0")
            again.until("PROG")
            assert server.call(lambda: list(waiting)) == []
            assert session in gateway.sessions
        assert server.metric("sessions_lost_total") == 0
