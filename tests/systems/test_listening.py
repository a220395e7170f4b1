from __future__ import annotations

import os
import socket

from streamgauge.systems.listening import processes_at


def test_whoever_listens_here_is_found_by_address_and_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert processes_at("127.0.0.1", port) == [os.getpid()]
        assert processes_at("localhost", port) == [os.getpid()]
        assert processes_at("127.0.0.2", port) == [], "another address of this machine"
    assert processes_at("127.0.0.1", port) == []


def test_whoever_listens_on_all_addresses_is_found_by_each() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        assert processes_at("127.0.0.2", port) == [os.getpid()]


def test_other_machines_have_no_processes_here() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert processes_at("192.0.2.77", server.getsockname()[1]) == []
    assert processes_at("no-such-host.invalid", 9092) == []
