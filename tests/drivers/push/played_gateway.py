"""A gateway that says what it is told to: after a true handshake, any bytes, cut anywhere."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from streamgauge.gateway.server.framing import websocket_frame
from streamgauge.gateway.server.websocket_handshake import accepted_key

DEADLINE_S = 30.0
JOINED = websocket_frame(b"WSOK\r\nCONOK,S1,50000,5000,*\r\nSUBOK,1,1,2\r\nCONF,1,unlimited,unfiltered\r\n")


class PlayedGateway:
    """Clients are told apart by the key that they ask for: `k0`, `k1` …"""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._listener.settimeout(DEADLINE_S)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.clients: dict[int, socket.socket] = {}
        self._accepting: threading.Thread | None = None

    def accept(self, count: int, said: bytes = JOINED, answer: bytes | None = None) -> None:
        """In the background; `answer`: in place of the true one."""
        self._accepting = threading.Thread(target=self._accept_all, args=(count, said, answer))
        self._accepting.start()

    def accepted(self) -> None:
        assert self._accepting is not None
        self._accepting.join(DEADLINE_S)
        assert not self._accepting.is_alive()

    def _accept_all(self, count: int, said: bytes, answer: bytes | None) -> None:
        for number in range(count):
            client, _ = self._listener.accept()
            client.settimeout(DEADLINE_S)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            request = b""
            while b"\r\n\r\n" not in request:
                request += _received(client)
            if answer is not None:
                self.clients[number] = client
                # Who has heard enough goes before the end.
                with suppress(ConnectionError):
                    client.sendall(answer)
                continue
            client.sendall(_upgraded(request))
            asked = b""
            while (found := re.search(rb"key%3[Dd]k(\d+)", _unmasked(asked))) is None:
                asked += _received(client)
            client.sendall(said)
            client.setblocking(False)
            self.clients[int(found[1])] = client

    def close(self) -> None:
        self._listener.close()
        if self._accepting is not None:
            self._accepting.join(DEADLINE_S)
        for client in self.clients.values():
            client.close()


@contextmanager
def played_gateway() -> Iterator[PlayedGateway]:
    gateway = PlayedGateway()
    try:
        yield gateway
    finally:
        gateway.close()


def _upgraded(request: bytes) -> bytes:
    found = re.search(rb"(?i)sec-websocket-key: (\S+)", request)
    assert found is not None
    return (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accepted_key(found[1])}\r\n"
        "Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com\r\n\r\n"
    ).encode()


def _received(client: socket.socket) -> bytes:
    more = client.recv(4096)
    assert more, "the client has gone before it said what it wants"
    return more


def _unmasked(received: bytes) -> bytes:
    """The payloads of a client's whole frames, one behind the other."""
    payloads, at = b"", 0
    while len(received) >= at + 2:
        size, head = received[at + 1] & 0x7F, 2
        if size == 126:
            size, head = int.from_bytes(received[at + 2 : at + 4]), 4
        mask = received[at + head : at + head + 4]
        payload = received[at + head + 4 : at + head + 4 + size]
        if len(payload) < size or len(mask) < 4:
            break
        payloads += bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        at += head + 4 + size
    return payloads
