"""The server as a process, or several: started, signalled, ended."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from .raw_client import Closed, WebSocket, get, post
from .running import DEADLINE_S
from .ticking import Ticking, ticking


def open_clients(server: Ticking, wanted: set[int]) -> dict[int, tuple[WebSocket, str]]:
    """A client with a session on each of the processes; the kernel deals out connections by their address."""
    found: dict[int, tuple[WebSocket, str]] = {}
    for _ in range(200):
        client = WebSocket(server)
        session = client.open_session()
        number = int(session[1 : session.index("x")], 16)
        if number not in found:
            found[number] = client, session
        if set(found) == wanted:
            return found
    raise AssertionError(f"only processes {sorted(found)} took connections")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("processes", [1, 2])
def test_it_ends_well_when_told_to(processes: int, sent: signal.Signals) -> None:
    with ticking(processes) as server:
        client = WebSocket(server)
        client.open_session()
        client.subscribe("item", schema="count")
        client.line()
        server.process.send_signal(sent)
        # Clients are told to come again, then the connection ends.
        assert client.until("LOOP")[-1] == "LOOP,0"
        with pytest.raises(Closed):
            client.line()
        said, _ = server.process.communicate(timeout=DEADLINE_S)
        assert sorted(said.split("\n")) == sorted(["", *[f"closed {n}" for n in range(processes)], "ended"])
        assert server.process.returncode == 0


def test_several_processes_share_the_port() -> None:
    with ticking(3) as server:
        found = open_clients(server, {0, 1, 2})
        for number, (client, _) in found.items():
            client.subscribe("item", schema="process")
            assert client.line() == f"U,1,1,{number}"
        pages = {get(server, "/metrics").body.split('process="')[1][0] for _ in range(60)}
        assert pages == {"0", "1", "2"}


def test_a_session_is_found_by_whichever_process_the_client_comes_back_to() -> None:
    with ticking(3) as server:
        found = open_clients(server, {0, 1, 2})
        for number, (client, session) in found.items():
            client.subscribe("item", schema="process count")
            counts = [int(client.line().split("|")[1]) for _ in range(3)]
            client.socket.close()
            received, recovered = 5, 0
            # By HTTP, again and again: connections go to all three processes.
            for _ in range(10):
                query = (
                    f"LS_session={session}&LS_recovery_from={received}&LS_polling=true&LS_polling_millis=0"
                )
                lines = post(server, "bind_session", f"{query}&LS_idle_millis=0").lines()
                assert lines[0].startswith(f"CONOK,{session},")
                updates = [line for line in lines if line.startswith("U,")]
                received, recovered = received + len(updates), recovered + len(updates)
                counts += [int(line.split("|")[1]) for line in updates]
            # By WebSocket, and then a control request by HTTP, wherever that comes in.
            for attempt in range(6):
                again = WebSocket(server)
                again.send("wsok")
                again.send(f"bind_session\r\nLS_session={session}")
                lines = again.until("U,")
                assert lines[0] == "WSOK"
                assert lines[1].startswith(f"CONOK,{session},")
                counts.append(int(lines[-1].split("|")[1]))
                query = f"LS_protocol=TLCP-2.5.0&LS_session={session}"
                answer = post(server, "control", f"LS_reqId={attempt}&LS_op=force_rebind", query=query)
                assert answer.body == f"REQOK,{attempt}\r\n"
                counts += [int(line.split("|")[1]) for line in again.until("LOOP") if line.startswith("U,")]
            assert counts == list(range(counts[0], counts[0] + len(counts))), number


def test_one_process_that_dies_ends_the_others_with_an_error() -> None:
    with ticking(2) as server:
        victim, *_ = psutil.Process(server.process.pid).children()
        os.kill(victim.pid, signal.SIGKILL)
        assert server.process.wait(DEADLINE_S) == 1
        assert (
            not psutil.pid_exists(victim.pid) or psutil.Process(victim.pid).status() == psutil.STATUS_ZOMBIE
        )
