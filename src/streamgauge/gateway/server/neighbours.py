"""Several processes on one port: a connection that asks for another's session is handed over to it.

The kernel spreads connections over the processes, and a client that comes back lands anywhere. Which process
has a session is written in its id. The socket itself goes over, with what was read from it so far; so the
process that took it in has no more to do with it. Under TLS that cannot be: there the session is not found.
"""

from __future__ import annotations

import asyncio
import logging
import mmap
import re
import socket
import struct
from collections.abc import Callable

LOGGER = logging.getLogger("streamgauge.gateway")
_MOST_BYTES = 131_072
_SESSION = re.compile(r"S([0-9a-f]{1,4})x[0-9a-f]{24}")

Adopt = Callable[[socket.socket, bytes, bool], None]
"""Takes a connection in: the socket, what was read from it and not dealt with, whether it is a WebSocket."""
_HTTP, _WEBSOCKET = b"H", b"W"
_COUNT = struct.Struct("=Q")


def session_name(process: int, secret: str) -> str:
    return f"S{process:x}x{secret}"


def process_of(session: str | None) -> int | None:
    """Which process has a session; None for what is no session's name."""
    match = _SESSION.fullmatch(session or "")
    return None if match is None else int(match[1], 16)


class Neighbours:
    """Mail boxes of all processes, made before they part. Each reads its own."""

    def __init__(self, processes: int) -> None:
        self._boxes = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(processes)]
        for pair in self._boxes:
            for end in pair:
                end.setblocking(False)
        self._own = 0
        self._restarts = mmap.mmap(-1, _COUNT.size)
        """Memory of all of them: who watches over the processes writes, whoever is asked reads."""

    @property
    def restarts(self) -> int:
        """How often a process that had died was started again, of all processes together."""
        [count] = _COUNT.unpack_from(self._restarts)
        return int(count)

    def count_restart(self) -> None:
        _COUNT.pack_into(self._restarts, 0, self.restarts + 1)

    def start(self, process: int, adopt: Adopt) -> None:
        """From now on this is that process, and takes in what is sent to it."""
        self._own = process
        inbox = self._boxes[process][0]
        asyncio.get_running_loop().add_reader(inbox.fileno(), self._read, inbox, adopt)

    def stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._boxes[self._own][0].fileno())

    def close(self) -> None:
        for pair in self._boxes:
            for end in pair:
                end.close()
        self._restarts.close()

    def are_meant(self, session: str | None) -> bool:
        """Whether a session is another process's."""
        process = process_of(session)
        return process is not None and process != self._own and process < len(self._boxes)

    def hand_over(
        self, session: str, transport: asyncio.Transport, received: bytes, *, is_upgraded: bool
    ) -> bool:
        """Give a connection to the process that has the session; False when that cannot be."""
        process = process_of(session)
        is_tls = transport.get_extra_info("ssl_object") is not None
        if process is None or is_tls or transport.get_write_buffer_size() or len(received) > _MOST_BYTES:
            return False
        handle = transport.get_extra_info("socket").fileno()
        try:
            kind = _WEBSOCKET if is_upgraded else _HTTP
            socket.send_fds(self._boxes[process][1], [kind, received], [handle])
        except OSError as error:
            LOGGER.warning("a connection could not be handed over to process %d: %s", process, error)
            return False
        # The other process has its own handle by now: this closes ours, and not the connection.
        transport.abort()
        return True

    @staticmethod
    def _read(inbox: socket.socket, adopt: Adopt) -> None:
        while True:
            try:
                received, handles, _, _ = socket.recv_fds(inbox, _MOST_BYTES + 1, 1)
            except BlockingIOError:
                return
            for handle in handles:
                taken = socket.socket(fileno=handle)
                taken.setblocking(False)
                adopt(taken, received[1:], received[:1] == _WEBSOCKET)
