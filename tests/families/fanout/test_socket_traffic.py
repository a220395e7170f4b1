from __future__ import annotations

import socket

from streamgauge.families.fanout.socket_traffic import socket_traffic


def test_counts_what_went_through_connections_both_ways() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        before = socket_traffic()
        with socket.create_connection(server.getsockname()) as client, server.accept()[0] as peer:
            client.sendall(b"x" * 5000)
            received = 0
            while received < 5000:
                received += len(peer.recv(8192))
            peer.sendall(b"y" * 700)
            assert len(client.recv(700, socket.MSG_WAITALL)) == 700
            after = socket_traffic()
    assert after.sockets - before.sockets == 2, "a socket that listens is no connection"
    # Both ends are ours; what was sent counts when it is acknowledged, and opening a connection counts for 1.
    assert after.received_bytes - before.received_bytes == 5700
    assert after.sent_bytes - before.sent_bytes <= 5701
