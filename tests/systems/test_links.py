"""Links between clients and a server: what is wrong with them is felt, and over when it is taken back."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from streamgauge.systems.links import Condition, Links, Way
from tests.waiting import wait_for

_PATIENCE_S = 20.0


class Echo:
    """Sends back what it gets."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = self._listener.getsockname()
        self.heard = bytearray()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(65536):
                    self.heard += data
                    connection.sendall(data)
            except OSError:
                return

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def links(echo: Echo) -> Iterator[Links]:
    made = Links({"broker-1": echo.place})
    yield made
    made.close()


@pytest.fixture
def client(links: Links) -> Iterator[socket.socket]:
    with connected(links) as found:
        yield found


def connected(links: Links) -> socket.socket:
    return socket.create_connection(("127.0.0.1", links.ports["broker-1"]), _PATIENCE_S)


def asked(client: socket.socket, data: bytes) -> bytes:
    client.sendall(data)
    return received(client, len(data))


def received(client: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        data = client.recv(65536)
        if not data:
            break
        found += data
    return found


def is_silent(client: socket.socket) -> bool:
    client.settimeout(0.3)
    try:
        return not client.recv(1)
    except TimeoutError:
        return True
    finally:
        client.settimeout(_PATIENCE_S)


def test_a_whole_link_hands_on_what_comes_in_its_order(links: Links, client: socket.socket) -> None:
    data = bytes(range(256)) * 4096
    threading.Thread(target=client.sendall, args=(data,), daemon=True).start()
    assert received(client, len(data)) == data


def test_a_slow_link_takes_its_time_both_ways_and_keeps_the_order(
    links: Links, client: socket.socket
) -> None:
    number = links.disturb(["broker-1"], Condition(delay_s=0.1, jitter_s=0.05))
    begun = time.monotonic()
    for letter in b"abcdef":
        client.sendall(bytes([letter]))
    assert received(client, 6) == b"abcdef"
    assert time.monotonic() - begun >= 0.2

    links.clear(number)
    assert asked(client, b"quick") == b"quick"


def test_two_at_once_add_up_and_one_way_can_be_hit_alone(links: Links, client: socket.socket) -> None:
    links.disturb(["broker-1"], Condition(delay_s=0.1, ways=frozenset({Way.TO_SYSTEM})))
    links.disturb(["broker-1"], Condition(delay_s=0.1, ways=frozenset({Way.TO_SYSTEM})))
    begun = time.monotonic()
    asked(client, b"x")
    assert time.monotonic() - begun >= 0.2


def test_nothing_passes_a_cut_link_and_all_of_it_comes_when_it_is_whole(
    echo: Echo, links: Links, client: socket.socket
) -> None:
    asked(client, b"before")
    number = links.disturb(["broker-1"], Condition(is_cut=True))
    client.sendall(b"held")
    assert is_silent(client)
    assert bytes(echo.heard) == b"before"

    links.clear(number)

    assert received(client, 4) == b"held"


def test_a_cut_towards_clients_lets_the_other_way_pass(
    echo: Echo, links: Links, client: socket.socket
) -> None:
    links.disturb(["broker-1"], Condition(is_cut=True, ways=frozenset({Way.TO_CLIENTS})))
    client.sendall(b"one way")
    wait_for(lambda: bytes(echo.heard) == b"one way")
    assert is_silent(client)

    links.restore()

    assert received(client, 7) == b"one way"


def test_a_narrow_link_lets_no_more_through_than_its_rate(links: Links, client: socket.socket) -> None:
    links.disturb(["broker-1"], Condition(bytes_per_s=100_000, ways=frozenset({Way.TO_CLIENTS})))
    begun = time.monotonic()
    assert len(asked(client, b"x" * 30_000)) == 30_000
    assert time.monotonic() - begun >= 0.29


def test_a_stall_holds_up_all_that_is_behind_it(links: Links, client: socket.socket) -> None:
    links.disturb(["broker-1"], Condition(stall_chance=1.0, stall_s=0.2, ways=frozenset({Way.TO_SYSTEM})))
    begun = time.monotonic()
    assert asked(client, b"later") == b"later"
    assert time.monotonic() - begun >= 0.2


def test_a_reset_ends_connections_and_sends_away_who_comes_meanwhile(
    links: Links, client: socket.socket
) -> None:
    asked(client, b"x")
    number = links.disturb(["broker-1"], Condition(is_refusing=True))
    links.reset(["broker-1"])
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    with pytest.raises(ConnectionResetError), connected(links) as other:
        other.recv(1)

    links.clear(number)

    with connected(links) as again:
        assert asked(again, b"back") == b"back"


def test_who_comes_for_a_server_that_is_down_is_told_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        place = gone.getsockname()
    links = Links({"broker-1": place})
    try:
        # On a busy machine the answer is there before `connect` has looked.
        with pytest.raises(ConnectionResetError), connected(links) as client:
            client.recv(1)
    finally:
        links.close()


def test_closed_links_let_go_of_everything(echo: Echo) -> None:
    links = Links({"broker-1": echo.place})
    port = links.ports["broker-1"]
    with connected(links) as client:
        asked(client, b"x")
        links.disturb(["broker-1"], Condition(is_cut=True))
        links.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), _PATIENCE_S)
    links.restore()  # said too late, and harmless
    assert not [thread for thread in threading.enumerate() if thread is links._thread]
