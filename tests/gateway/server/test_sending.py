from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from streamgauge.gateway.server.sending import LOOP, send_to_all, send_to_all_in_python
from streamgauge.native.loading import compiled_loops

Send = Callable[[list[int], bytes], list[tuple[int, int]]]
Pairs = list[tuple[socket.socket, socket.socket]]


@pytest.fixture
def pairs() -> Iterator[Pairs]:
    made = [socket.socketpair() for _ in range(4)]
    for near, far in made:
        near.setblocking(False)
        far.settimeout(5)
    yield made
    for pair in made:
        for end in pair:
            end.close()


def fill(full: socket.socket) -> None:
    full.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    try:
        while True:
            full.send(b"x" * 1000)
    except BlockingIOError:
        pass


@pytest.mark.parametrize("send", [send_to_all, send_to_all_in_python])
def test_a_frame_goes_to_all_and_who_did_not_take_it_is_told(send: Send, pairs: Pairs) -> None:
    full = pairs[1][0]
    fill(full)
    closed = pairs[2][0].detach()
    socket.close(closed)
    sockets = [pairs[0][0].fileno(), full.fileno(), closed, pairs[3][0].fileno()]
    assert send(sockets, b"hello") == [(1, 0), (2, 0)]
    assert pairs[0][1].recv(10) == pairs[3][1].recv(10) == b"hello"
    huge = b"y" * 50_000_000
    [(index, sent)] = send([sockets[0]], huge)
    assert index == 0
    assert 0 < sent < len(huge)
    assert send([], b"hello") == []


@pytest.mark.parametrize("send", [send_to_all, send_to_all_in_python])
def test_a_peer_that_has_gone_is_told_of_and_ends_nothing(send: Send, pairs: Pairs) -> None:
    pairs[0][1].close()
    sockets = [near.fileno() for near, _ in pairs]
    assert send(sockets, b"hello") == [(0, 0)]
    assert send([-1, sockets[1]], b"hello") == [(0, 0)]


def test_which_loop_it_is_is_known() -> None:
    assert ("python" if compiled_loops("broadcast") is None else "native") == LOOP
    assert (send_to_all is send_to_all_in_python) == (LOOP == "python")


@pytest.mark.skipif(LOOP == "python", reason="no compiled loop here")
def test_what_are_no_sockets_is_refused(pairs: Pairs) -> None:
    with pytest.raises(TypeError):
        send_to_all(["1"], b"hello")  # type: ignore[list-item]
    with pytest.raises(OverflowError):
        send_to_all([1 << 70], b"hello")
    assert send_to_all([1 << 40], b"hello") == [(0, 0)]
