"""A way to a server through this process: it sees what is asked for, and may break off."""

from __future__ import annotations

import itertools
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

_ASKED = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.1\r\n")
_HEAD_END = b"\r\n\r\n"
_PIECE_BYTES = 1 << 16


@dataclass
class Relay:
    endpoint: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request."""
    unheard: list[tuple[str, str]] = field(default_factory=list)
    """Those that were broken off before the server had them."""
    unanswered: list[tuple[str, str]] = field(default_factory=list)
    """Those that the server did, whose answer was broken off: within its content, if that was asked for."""

    def asked_for(self, part: str) -> set[str]:
        """Methods of the requests whose path has it."""
        return {method for method, path in self.asked if part in path}


@contextmanager
def relay(endpoint: str, *, cuts_every: int = 0) -> Iterator[Relay]:
    """`cuts_every`: of so many requests one is broken off, in turns on its way there and on that of its
    answer; 0: none."""
    server = urlsplit(endpoint)
    way = _Way((str(server.hostname), int(server.port or 80)), cuts_every)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        way.made.endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=way.carry, args=(client,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield way.made


class _Way:
    def __init__(self, there: tuple[str, int], cuts_every: int) -> None:
        self.made = Relay()
        self._there, self._cuts_every = there, cuts_every
        self._numbers = itertools.count(1)

    def carry(self, client: socket.socket) -> None:
        cut: list[str] = []
        with client, socket.create_connection(self._there) as server:
            back = threading.Thread(target=_answers, args=(server, client, cut), daemon=True)
            back.start()
            try:
                while piece := client.recv(_PIECE_BYTES):
                    # Who asks waits for the answer, so a request is where a piece begins.
                    if (found := _ASKED.match(piece)) is not None:
                        method, path = found.groups()
                        if not self._passes((method.decode(), unquote(path.decode())), cut):
                            return
                    server.sendall(piece)
                server.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            back.join(10)

    def _passes(self, request: tuple[str, str], cut: list[str]) -> bool:
        """False: it is broken off here. `cut` gets its method if its answer is to be."""
        self.made.asked.append(request)
        turn, rest = divmod(next(self._numbers), self._cuts_every or 1)
        if not self._cuts_every or rest:
            return True
        if turn % 2:
            self.made.unheard.append(request)
            return False
        self.made.unanswered.append(request)
        cut.append(request[0])
        return True


def _answers(server: socket.socket, client: socket.socket, cut: list[str]) -> None:
    """`cut`: once there is a method in it, the answer that comes next is broken off."""
    try:
        while piece := server.recv(_PIECE_BYTES):
            if cut:
                # Half a head would be taken for a whole one; of a file that is asked for some of it is sent.
                head, _, content = piece.partition(_HEAD_END)
                if cut[0] == "GET":
                    client.sendall(head + _HEAD_END + content[: len(content) // 2])
                break
            client.sendall(piece)
        client.shutdown(socket.SHUT_RDWR if cut else socket.SHUT_WR)
    except OSError:
        pass
