"""A wire between clients and a server, which can be cut and clogged."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import cast

from .running import DEADLINE_S

_BUFFER_BYTES = 16_384


class Wire:
    """`port` and `address` are what a client is told in place of the server's."""

    def __init__(self, server_port: int) -> None:
        self._server_port, self._ends = server_port, set[asyncio.Transport]()
        self._is_clogged = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._listening = self._on_loop(self._listen())
        self.port = int(self._listening.sockets[0].getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """End all connections; new ones can be made."""
        self._on_loop(self._cut())

    def clog(self) -> None:
        """Let nothing through to the clients until it is cleared."""
        self._on_loop(self._set_clogged(True))

    def clear(self) -> None:
        self._on_loop(self._set_clogged(False))

    def close(self) -> None:
        self._on_loop(self._stop_listening())
        self.cut()
        self._on_loop(asyncio.sleep(0))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DEADLINE_S)
        self._loop.close()

    def _on_loop(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(DEADLINE_S)

    async def _listen(self) -> asyncio.Server:
        return await self._loop.create_server(lambda: _End(self, None), "127.0.0.1", 0)

    async def _stop_listening(self) -> None:
        self._listening.close()  # by the loop's own thread: connections that end at the same time count too

    async def _cut(self) -> None:
        for end in tuple(self._ends):
            end.abort()

    async def _set_clogged(self, is_clogged: bool) -> None:
        self._is_clogged = is_clogged
        for end in tuple(self._ends):
            protocol = cast(_End, end.get_protocol())
            if protocol.is_server_side and not end.is_closing():
                end.pause_reading() if is_clogged else end.resume_reading()

    def joined(self, end: asyncio.Transport) -> None:
        self._ends.add(end)

    def left(self, end: asyncio.Transport) -> None:
        self._ends.discard(end)

    async def reach_server(self, client: _End) -> None:
        raw = socket.socket()
        # What is not read must not vanish in the kernel's buffers: they would hold megabytes.
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        raw.setblocking(False)
        try:
            await self._loop.sock_connect(raw, ("127.0.0.1", self._server_port))
        except OSError:
            raw.close()
            client.drop()
            return
        transport, _ = await self._loop.create_connection(lambda: _End(self, client), sock=raw)
        if self._is_clogged:
            transport.pause_reading()


class _End(asyncio.Protocol):
    """One side of a connection through the wire; what comes in here goes out at the other side."""

    def __init__(self, wire: Wire, other: _End | None) -> None:
        self._wire, self._other, self.is_server_side = wire, other, other is not None
        self._early: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._wire.joined(self._transport)
        if self._other is None:
            self._reaching = asyncio.get_running_loop().create_task(self._wire.reach_server(self))
        else:
            self._other.meet(self)

    def meet(self, other: _End) -> None:
        self._other = other
        for data in self._early:
            other.send(data)
        if self._transport.is_closing():
            other.drop()

    def send(self, data: bytes) -> None:
        self._transport.write(data)

    def drop(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._other is None:
            self._early.append(data)
        else:
            self._other.send(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._wire.left(self._transport)
        if self._other is not None:
            self._other._transport.close()


@contextmanager
def wired(server: object) -> Iterator[Wire]:
    """`server`: anything that has a `port`."""
    wire = Wire(cast(SimpleNamespace, server).port)
    try:
        yield wire
    finally:
        wire.close()
