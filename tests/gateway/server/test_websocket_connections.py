"""WebSockets whose peer means harm: what a frame costs, and what may wait for who does not read."""

from __future__ import annotations

import time

import pytest

from .client_frames import PING, TEXT, frame
from .raw_client import WebSocket
from .running import Running, running

UNLIMITED = 10_000_000


def waiting_bytes(server: Running) -> int:
    return max(
        (each.link.transport.get_write_buffer_size() for each in server.server.websockets),
        default=0,
    )


def send_until_closed(client: WebSocket, data: bytes, most: int) -> int:
    """How often it could be sent before the server let go."""
    client.socket.settimeout(0.2)
    for sent in range(most):
        time.sleep(0.01)
        try:
            client.socket.sendall(data)
        except TimeoutError:
            continue  # Not read for a while: fine.
        except OSError:
            return sent
    return most


def test_a_message_is_of_so_many_fragments_and_no_more() -> None:
    with running({"limits": {"requests_per_s": UNLIMITED}}) as server:
        with WebSocket(server) as client:
            client.socket.sendall(frame(b"ws", fin=False) + 254 * frame(b"", 0, fin=False) + frame(b"ok", 0))
            assert client.line() == "WSOK"
        with WebSocket(server) as client:
            client.socket.sendall(frame(b"ws", fin=False) + 5000 * frame(b"", 0, fin=False) + frame(b"ok", 0))
            assert client.closed_with() == 1008


@pytest.mark.parametrize("sent", [frame(b"", PING), frame(b"", 0xA), frame(b"", 0, fin=False)])
def test_every_frame_is_charged_be_it_empty_or_a_control_frame(sent: bytes) -> None:
    with running({"limits": {"requests_per_s": 50}}) as server, WebSocket(server) as client:
        client.open_session()
        client.socket.sendall(frame(b"", fin=False) + 100 * sent)
        server.wait_until(
            lambda: any(not each.link.transport.is_reading() for each in server.server.websockets)
        )


def test_pings_of_who_does_not_read_are_not_answered_without_bounds() -> None:
    with running({"limits": {"requests_per_s": UNLIMITED}}) as server, WebSocket(server) as client:
        client.open_session()
        most_bytes = 0
        pings = 500 * frame(b"p" * 125, PING)
        for _ in range(100):
            client.socket.sendall(pings)
            most_bytes = max(most_bytes, server.call(waiting_bytes, server))
        assert most_bytes <= 127


def test_the_newest_ping_is_answered_when_there_is_room_again() -> None:
    with running({"limits": {"requests_per_s": UNLIMITED}}) as server, WebSocket(server) as client:
        client.open_session()
        while not server.call(waiting_bytes, server):
            client.socket.sendall(500 * frame(b"old" * 40, PING))
        client.socket.sendall(frame(b"newest", PING))
        found = b""
        while found != b"newest":
            opcode, found = client.frame()
            assert opcode in (TEXT, 0xA)


@pytest.mark.parametrize(
    "said", [frame(b"p" * 125, PING), frame(b"control\r\nLS_reqId=1&LS_op=delete&LS_subId=7")]
)
def test_what_is_added_for_who_does_not_read_is_no_progress(said: bytes) -> None:
    limits = {"requests_per_s": UNLIMITED, "unread_deadline": "1s"}
    with running({"limits": limits}) as server, WebSocket(server) as client:
        client.open_session()
        assert send_until_closed(client, 200 * said, 500) < 500


def test_who_does_not_read_is_dropped_without_a_session_too() -> None:
    limits = {"requests_per_s": UNLIMITED, "unread_deadline": "1s", "connect_deadline": "60s"}
    with running({"limits": limits}) as server, WebSocket(server) as client:
        assert send_until_closed(client, 200 * frame(b"p" * 125, PING), 500) < 500
        assert server.metric('drops_total{process="0",reason="unread"}') == 1


@pytest.mark.parametrize("bit", [4, 2, 1])
def test_reserved_bits_are_for_extensions_and_none_was_agreed_on(bit: int) -> None:
    with running() as server, WebSocket(server) as client:
        client.open_session()
        client.socket.sendall(frame(b"wsok", rsv=bit))
        assert client.closed_with() == 1002
