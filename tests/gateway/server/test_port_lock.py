from __future__ import annotations

import os
import socket
import sys
import time

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.server.port_lock import lock_port, who_listens
from streamgauge.gateway.server.server import listening_socket
from streamgauge.gateway.server.settings import ServerSettings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the names are Linux's")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_one_holder_at_a_time_under_every_name_of_the_address() -> None:
    port = free_port()
    with lock_port("127.0.0.1", port):
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(BadInput, match=f"{host}:{port}: .*process {os.getpid()} "):
                lock_port(host, port, wait_s=0)
        lock_port("127.0.0.2", port, wait_s=0).close()
        lock_port("127.0.0.1", port + 1, wait_s=0).close()
    lock_port("127.0.0.1", port, wait_s=0).close()


def test_one_that_is_just_ending_is_waited_for() -> None:
    port = free_port()
    held = lock_port("127.0.0.1", port)
    child = os.fork()
    if not child:
        # As after kill -9 of the one that watches: a process of it still has the name for a moment.
        time.sleep(0.3)
        os._exit(0)
    held.close()
    lock_port("127.0.0.1", port, wait_s=20).close()
    assert os.waitpid(child, 0) == (child, 0)


def test_who_listens_is_named_and_so_is_the_way_out() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert who_listens(port).startswith(f", process {os.getpid()} (")
        with pytest.raises(BadInput, match=f"Address already in use, process {os.getpid()} .*end it, or"):
            listening_socket(ServerSettings.model_validate({"port": port}))
    assert who_listens(port) == ": end it, or choose another port (--port, --monitoring-port)"
