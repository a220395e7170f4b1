from __future__ import annotations

import socket

from streamgauge.gateway.server.sending import send_to_all


def test_a_frame_goes_to_all_and_who_did_not_take_it_is_told() -> None:
    pairs = [socket.socketpair() for _ in range(4)]
    try:
        for near, far in pairs:
            near.setblocking(False)
            far.settimeout(5)
        full = pairs[1][0]
        full.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        try:
            while True:
                full.send(b"x" * 1000)
        except BlockingIOError:
            pass
        closed = pairs[2][0].detach()
        socket.close(closed)
        sockets = [pairs[0][0].fileno(), full.fileno(), closed, pairs[3][0].fileno()]
        assert send_to_all(sockets, b"hello") == [(1, 0), (2, 0)]
        assert pairs[0][1].recv(10) == pairs[3][1].recv(10) == b"hello"
        huge = b"y" * 50_000_000
        [(index, sent)] = send_to_all([sockets[0]], huge)
        assert index == 0
        assert 0 < sent < len(huge)
    finally:
        for near, far in pairs:
            near.close()
            far.close()
