"""Where clients come in: a few in a turn of the event loop, each counted from the moment it comes.

Hundreds may come at once, as when all who were dropped come back; to take them all in before anything else is
done would hold up everybody's updates. And who has come and does not finish the handshake of TLS holds a file
and memory like any other stranger: it has its place in the crowd, and makes room like the others.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from streamgauge.gateway.server.budget import Budget, Reason, network_of
from streamgauge.gateway.server.http_exchanges import HttpExchanges

_BACKLOG = 4096
_AT_ONCE, _HANDSHAKES_AT_ONCE = 8, 2
"""In one turn of the loop; to shake hands takes a millisecond of computing."""
_NO_ROOM_S = 0.1
"""How long nobody is taken in when the process can open no more files."""


class Arrival:
    """A connection that has come and is shaking hands. It is closed by its socket: it has no transport."""

    __slots__ = ("_budget", "_socket", "network")

    def __init__(self, budget: Budget, connection: socket.socket, address: str) -> None:
        self._budget, self._socket, self.network = budget, connection, network_of(address)
        budget.come(self)

    def left(self) -> None:
        """It is a connection like any other now, or gone."""
        self._budget.crowd.left(self)

    def drop(self, reason: Reason) -> None:
        self._budget.count_drop(reason)
        self.left()
        # Whoever waits for its bytes finds that there are no more.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Door:
    """Of one process. `make`: a connection's protocol."""

    def __init__(
        self,
        listener: socket.socket,
        budget: Budget,
        make: Callable[[], HttpExchanges],
        tls: ssl.SSLContext | None,
    ) -> None:
        self._listener, self._budget, self._make, self._tls = listener, budget, make, tls
        self._at_once = _AT_ONCE if tls is None else _HANDSHAKES_AT_ONCE
        self._coming: set[asyncio.Task[object]] = set()
        self._is_open = False

    def open(self) -> None:
        self._listener.listen(_BACKLOG)
        self._is_open = True
        self._look_out()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            asyncio.get_running_loop().remove_reader(self._listener.fileno())
            self._listener.close()
        for task in self._coming:
            task.cancel()

    def _look_out(self) -> None:
        if self._is_open:
            asyncio.get_running_loop().add_reader(self._listener.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(self._at_once):
            try:
                connection, peer = self._listener.accept()
            except (BlockingIOError, ConnectionError):
                return
            except OSError:
                # No more files, most often: those who wait in the kernel are still there in a moment.
                loop = asyncio.get_running_loop()
                loop.remove_reader(self._listener.fileno())
                loop.call_later(_NO_ROOM_S, self._look_out)
                return
            connection.setblocking(False)
            self._let_in(connection, str(peer[0]))

    def _let_in(self, connection: socket.socket, address: str) -> None:
        loop = asyncio.get_running_loop()
        arrival = None if self._tls is None else Arrival(self._budget, connection, address)

        def made() -> HttpExchanges:
            protocol = self._make()
            protocol.arrival = arrival
            return protocol

        deadline_s = None if self._tls is None else self._budget.limits.connect_deadline
        task: asyncio.Task[object] = loop.create_task(
            loop.connect_accepted_socket(made, connection, ssl=self._tls, ssl_handshake_timeout=deadline_s)
        )
        self._coming.add(task)
        task.add_done_callback(partial(self._came, arrival))

    def _came(self, arrival: Arrival | None, task: asyncio.Task[object]) -> None:
        self._coming.discard(task)
        if arrival is not None:
            arrival.left()
        if not task.cancelled() and task.exception() is not None:
            is_late = isinstance(task.exception(), TimeoutError | ConnectionAbortedError)
            self._budget.count_drop(Reason.UNFINISHED if is_late else Reason.RULES)
