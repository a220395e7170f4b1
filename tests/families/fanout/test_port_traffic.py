from __future__ import annotations

import socket

from streamgauge.families.fanout.port_traffic import port_traffic


def test_counts_the_connections_of_one_port_both_ways() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
        port = server.getsockname()[1]
        with (
            socket.create_connection(server.getsockname()) as client,
            server.accept()[0] as peer,
            socket.create_connection(other.getsockname()),
            other.accept()[0],
        ):
            client.sendall(b"x" * 3000)
            assert len(peer.recv(3000, socket.MSG_WAITALL)) == 3000
            peer.sendall(b"y" * 200)
            assert len(client.recv(200, socket.MSG_WAITALL)) == 200
            client.sendall(b"z")  # With it the 200 bytes are acknowledged.
            assert peer.recv(1) == b"z"
            told = port_traffic(port)
            assert told is not None
            assert (told.sockets, told.received_bytes, told.sent_bytes) == (1, 3001, 200)
    none = port_traffic(port)
    assert none is not None
    assert none.received_bytes == 0
