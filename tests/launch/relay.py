"""A way to a server through this process: it sees what is asked for, and may break off."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

_ASKED = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.1\r\n")


@dataclass
class Relay:
    endpoint: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request."""
    cut: list[int] = field(default_factory=list)
    """Numbers of the connections that were broken off."""

    def asked_for(self, part: str) -> set[str]:
        """Methods of the requests whose path has it."""
        return {method for method, path in self.asked if part in path}


@contextmanager
def relay(endpoint: str, *, cuts_every: int = 0) -> Iterator[Relay]:
    """`cuts_every`: so many connections, one is broken off after its first piece; 0: none."""
    server = urlsplit(endpoint)
    there, made = (str(server.hostname), int(server.port or 80)), Relay()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made.endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def serve() -> None:
            number = 0
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                number += 1
                is_cut = cuts_every > 0 and number % cuts_every == 0
                if is_cut:
                    made.cut.append(number)
                threading.Thread(target=_carry, args=(client, there, made, is_cut), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield made


def _carry(client: socket.socket, there: tuple[str, int], made: Relay, is_cut: bool) -> None:
    with client:
        if is_cut:
            client.recv(100)
            return
        with socket.create_connection(there) as server:
            back = threading.Thread(target=_pump, args=(server, client, None), daemon=True)
            back.start()
            _pump(client, server, made)
            back.join(10)


def _pump(source: socket.socket, target: socket.socket, made: Relay | None) -> None:
    try:
        while piece := source.recv(1 << 16):
            # Who asks waits for the answer, so a request is where a piece begins.
            if made is not None and (found := _ASKED.match(piece)) is not None:
                method, path = found.groups()
                made.asked.append((method.decode(), unquote(path.decode())))
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
