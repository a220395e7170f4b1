"""Whatever is sent to a running server, it goes on serving others."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proof import tries

from ..protocol.test_requests import PIECES
from .client_frames import TEXT
from .raw_client import CREATE, Closed, WebSocket, close_all, connect, leave_open
from .running import Running, running


class Complaints(logging.Handler):
    """What went wrong inside the server."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))


@pytest.fixture(scope="module")
def complaints() -> Iterator[list[str]]:
    handler = Complaints()
    logging.getLogger().addHandler(handler)
    yield handler.told
    logging.getLogger().removeHandler(handler)


@pytest.fixture(scope="module")
def stage() -> Iterator[tuple[Running, WebSocket]]:
    """A server, and a well-behaved client whose updates must keep coming."""
    with running(
        {"session_recovery": "1s", "session_timeout": "1s", "limits": {"requests_per_s": 100_000}}
    ) as server:
        witness = WebSocket(server)
        leave_open(witness.socket)
        witness.open_session()
        witness.subscribe("witnessed")
        yield server, witness
        witness.socket.close()


texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=30).map("".join)
messages = st.one_of(
    texts.map(lambda text: text.encode("utf-8", "replace")),
    st.binary(max_size=200),
    st.sampled_from([b"wsok", CREATE.encode(), b"control\r\nLS_reqId=1&LS_op=force_rebind"]),
    texts.map(lambda text: b"control\r\n" + text.encode("utf-8", "replace")),
)
frames = st.tuples(messages, st.sampled_from([TEXT, TEXT, TEXT, 0, 2, 8, 9, 10, 3]), st.booleans())

_counts = {"published": 0}


def still_serves(server: Running, witness: WebSocket) -> None:
    _counts["published"] += 1
    server.publish("witnessed", {"n": str(_counts["published"])})
    assert witness.line() == f"U,1,1,{_counts['published']}"


@pytest.mark.proof
@given(sent=st.lists(frames, max_size=12), opens=st.booleans())
@tries(60, 5000)
def test_any_frames(
    stage: tuple[Running, WebSocket], complaints: list[str], sent: list[tuple[bytes, int, bool]], opens: bool
) -> None:
    server, witness = stage
    with WebSocket(server) as client:
        try:
            if opens:
                client.open_session()
                client.subscribe("fuzzed")
            for payload, opcode, fin in sent:
                client.send_frame(payload, opcode, fin=fin)
        except (OSError, Closed):
            pass  # It was closed on us, as it should be.
    still_serves(server, witness)
    close_all()


@pytest.mark.proof
@given(
    pieces=st.lists(
        st.one_of(
            st.binary(max_size=80),
            texts.map(lambda text: text.encode("utf-8", "replace")),
            st.sampled_from(
                [
                    *(
                        b"GET ",
                        b"POST ",
                        b"/lightstreamer/control.txt",
                        b"/lightstreamer",
                        b" HTTP/1.1\r\n",
                        b"\r\n\r\n",
                    ),
                    *(
                        b"Content-Length: 5\r\n",
                        b"Upgrade: websocket\r\n",
                        b"Connection: Upgrade\r\n",
                        b"Host: x\r\n",
                    ),
                    *(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", b"Sec-WebSocket-Version: 13\r\n"),
                    *(
                        b"Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com\r\n",
                        b"?LS_protocol=TLCP-2.5.0",
                    ),
                    b"POST /lightstreamer/create_session.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1\r\n",
                    b"Content-Length: 19\r\n\r\n",
                    b"LS_adapter_set=TEST",
                ]
            ),
        ),
        max_size=14,
    )
)
@tries(60, 5000)
def test_any_bytes(stage: tuple[Running, WebSocket], complaints: list[str], pieces: list[bytes]) -> None:
    server, witness = stage
    raw = connect(server)
    try:
        for piece in pieces:
            raw.sendall(piece)
        raw.shutdown(socket.SHUT_WR)
        raw.settimeout(0.01)
        raw.recv(65_536)
    except OSError:
        pass
    raw.close()
    still_serves(server, witness)
    close_all()


def test_nothing_is_left_of_it(stage: tuple[Running, WebSocket], complaints: list[str]) -> None:
    """Sessions, items and connections of all who came and went are gone, and no exception was seen."""
    server, witness = stage
    server.wait_until(lambda: len(server.server.gateway.sessions) == 1)
    server.wait_until(lambda: len(server.server.gateway.delivery.cohorts) == 1)
    server.wait_until(lambda: len(server.server.websockets) + len(server.server.connections) == 1)
    assert server.source.subscribed == ["witnessed"]
    assert complaints == []
    still_serves(server, witness)
