from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import cast

import pytest

from streamgauge.gateway.protocol.versions import version_named
from streamgauge.gateway.server.accounts import Account
from streamgauge.gateway.server.links import WebSocketLink

from .raw_client import WebSocket
from .running import running

cork = getattr(socket, "TCP_CORK", 3)


@pytest.mark.skipif(not hasattr(socket, "TCP_CORK"), reason="Linux's")
def test_what_is_written_meanwhile_goes_out_together() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with socket.create_connection(listening.getsockname()) as near, listening.accept()[0]:
            transport = SimpleNamespace(
                get_extra_info=lambda what: near if what == "socket" else None,
                set_write_buffer_limits=lambda high: None,
            )
            version = version_named("TLCP-2.5.0")
            assert version is not None
            link = WebSocketLink(cast(Account, SimpleNamespace(transport=transport, address="")), version)
            link.gather()
            assert near.getsockopt(socket.IPPROTO_TCP, cork)
            link.let_go()
            assert not near.getsockopt(socket.IPPROTO_TCP, cork)
            link.gather()
            near.close()
            link.let_go()


def test_all_answers_to_a_message_come_in_their_order() -> None:
    with running() as server, WebSocket(server) as client:
        client.open_session()
        lines = [f"LS_reqId={n}&LS_op=delete&LS_subId=7" for n in range(200)]
        lines[100] = "LS_reqId=100&LS_op=constrain&LS_requested_max_bandwidth=50"
        client.send("control\r\n" + "\r\n".join(lines))
        answers = client.lines(201)
        assert answers.pop(100) == "CONS,50.0"
        assert [line.split(",")[1] for line in answers] == [str(n) for n in range(200)]
