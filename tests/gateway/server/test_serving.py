"""The server as a process, or several: started, signalled, ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import psutil
import pytest

from .raw_client import Closed, WebSocket, get, post
from .running import DEADLINE_S
from .ticking import DidNotStart, Ticking, ticking


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


def wait_for_process(server: Ticking, number: int) -> None:
    until_s = time.monotonic() + DEADLINE_S
    while time.monotonic() < until_s:
        # Who came to a process that dies, and was not taken yet, is reset by the kernel.
        with contextlib.suppress(ConnectionResetError):
            if f'process="{number}"' in get(server.monitoring, "/metrics").body:
                return
        time.sleep(0.01)
    raise AssertionError(f"process {number} took no connection")


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
        pages = {get(server.monitoring, "/metrics").body.split('process="')[1][0] for _ in range(60)}
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


def test_a_process_that_dies_is_started_again_and_the_others_do_not_notice() -> None:
    with ticking(2) as server:
        found = open_clients(server, {0, 1})
        pids = {}
        for number, (client, _) in found.items():
            client.subscribe("item", schema="count pid")
            pids[number] = int(client.line().split("|")[1])
        os.kill(pids[0], signal.SIGKILL)
        with pytest.raises(Closed):
            found[0][0].until("never")
        wait_for_process(server, 0)
        again = open_clients(server, {0, 1})[0][0]
        again.subscribe("item", schema="process pid")
        process, pid = again.line().removeprefix("U,1,1,").split("|")
        assert process == "0"
        assert int(pid) not in pids.values()
        # A session of the dead one is gone, and its client is told so wherever it comes.
        for _ in range(6):
            lost = WebSocket(server)
            lost.send("wsok")
            lost.send(f"bind_session\r\nLS_session={found[0][1]}")
            assert lost.until("CONERR")[-1].startswith("CONERR,20,")
        counts = [int(found[1][0].line().removeprefix("U,1,1,").split("|")[0]) for _ in range(20)]
        assert counts == list(range(counts[0], counts[0] + 20))
        told = {
            get(server.monitoring, "/metrics").body.split("process_restarts_total{")[1][:14]
            for _ in range(40)
        }
        assert told == {'process="0"} 1', 'process="1"} 1'}


def test_too_many_deaths_end_the_gateway_and_say_so() -> None:
    with ticking(2) as server:
        parent, killed = psutil.Process(server.process.pid), set[int]()
        until_s = time.monotonic() + DEADLINE_S
        while server.process.poll() is None and time.monotonic() < until_s:
            for child in parent.children():
                if child.pid not in killed and len(killed) < 5:
                    killed.add(child.pid)
                    child.kill()
            time.sleep(0.05)
        _, said = server.process.communicate(timeout=DEADLINE_S)
        assert server.process.returncode == 1
        assert len(killed) == 5
        assert said.count("it is started again in") == 4
        assert "that was death 5 within 60 s, so the gateway ends" in said


@pytest.mark.parametrize("kernel_ends_it", [True, False])
def test_no_process_outlives_the_one_that_watches_over_them(kernel_ends_it: bool) -> None:
    with ticking(2, kernel_ends_it=kernel_ends_it) as server:
        children = psutil.Process(server.process.pid).children()
        assert len(children) == 2
        server.process.kill()
        _, alive = psutil.wait_procs(children, timeout=60)
        assert alive == []
        # And the next can have the port at once, alone.
        with ticking(2, server.port) as successor:
            found = open_clients(successor, {0, 1})
            assert len(found) == 2
            assert successor.port == server.port


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_two_gateways_never_share_a_port(first: int, second: int) -> None:
    with ticking(first) as server:
        with pytest.raises(DidNotStart) as refused, ticking(second, server.port):
            pass
        said = f"127.0.0.1:{server.port}: a gateway has this port already, process {server.process.pid} ("
        assert said in str(refused.value)
        assert "end it, or choose another port (--port, --monitoring-port)" in str(refused.value)
        assert get(server.monitoring, "/healthz").body == "ok\n"
