"""Push sessions read in a compiled loop: Python opens them, and hears of what is no common update."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.drivers.push.access import GatewayAccess
from streamgauge.drivers.push.requests import END_OF_HEAD, MOST_HEAD_BYTES, check_upgraded, upgrade_request
from streamgauge.drivers.push.swarm import HANDSHAKE_S, PushSwarm
from streamgauge.drivers.push.timed_field import TimeReader
from streamgauge.drivers.swarm import Heard, HeardRows, SwarmOptions
from streamgauge.gateway.server.framing import NO_MASK, masked_frame, masked_head
from streamgauge.native.loading import Loop

# As native/swarm.h has them: what is done with a session's updates, and what is told of it.
_COUNTING, _STAMPING, _TELLING = 2, 3, 4
_LINE, _BEFORE, _FIELD, _PING, _CLOSE, _END, _BROKEN = range(7)
_ROWS = 8192
_MOST_TOLD_BYTES = 1024
"""Of a line that is no update."""
_PONG_FRAME, _CLOSE_FRAME = 0x8A, 0x88
_READ_BYTES = 4096


class NativeSwarm(PushSwarm):
    """`heard_rows`: None where every update of a measured client is to be told by `heard`."""

    loop: Loop = "native"

    def __init__(
        self,
        options: SwarmOptions,
        heard: Heard,
        access: GatewayAccess,
        loops: ModuleType,
        heard_rows: HeardRows | None = None,
    ) -> None:
        super().__init__(options, heard, access)
        self._loops, self._heard_rows = loops, heard_rows
        field = self.field
        self._swarm = loops.swarm(
            (self.counts,),
            options.count,
            field.index,
            field.fields,
            self.most_message_bytes,
            _MOST_TOLD_BYTES,
        )
        # JSON is read in Python.
        self._measured_mode = _TELLING if heard_rows is None or field.in_json else _STAMPING
        self._columns = (np.empty(_ROWS, np.int32), np.empty(_ROWS, np.int64), np.empty(_ROWS, np.int64))
        self._sockets: dict[int, socket.socket] = {}
        self._readers: dict[int, TimeReader] = {}
        """Of measured sessions whose updates are told."""
        self._addresses: list[tuple[int, Any]] = []
        self._again: asyncio.Handle | None = None
        """The rest of what it has been told of, where it gave Python its turn."""
        self._told: dict[int, Callable[[int, int, bytes], None]] = {
            _LINE: lambda place, _, line: self.told(place, line),
            _BEFORE: self._told_before,
            _FIELD: self._told_field,
            _PING: self._told_ping,
            _CLOSE: self._told_close,
            _END: lambda place, _, why: self._end(place),
            _BROKEN: lambda place, _, why: self._end(place, f"the gateway sent {_text(why)}"),
        }
        self.events.add_reader(loops.swarm_fd(self._swarm), self._take, 0)

    async def join(self, place: int) -> None:
        async with asyncio.timeout(HANDSHAKE_S):
            made = self._sockets[place] = await self._connected(place)
            request, key = upgrade_request(self.access.address)
            await self.events.sock_sendall(made, request)
            head, received = await self._answer(made)
            check_upgraded(head, key)
            await self.events.sock_sendall(made, b"".join(map(masked_frame, self.requests(place))))
        mode = self._measured_mode if place in self.options.measured else _COUNTING
        self._loops.swarm_add(self._swarm, place, made.fileno(), mode, received)
        if received:
            self._take(0)

    async def _connected(self, place: int) -> socket.socket:
        """To the first of the gateway's addresses that answers."""
        own = self.own_socket(place)
        address = self.access.address
        if own is not None:
            return await self._connected_to(own, (address.host, address.port))
        if not self._addresses:
            found = await self.events.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            self._addresses = [(family, where) for family, _, _, _, where in found]
        failed: OSError = ConnectionError(f"{address.host} has no address")
        for family, where in self._addresses:
            made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                return await self._connected_to(made, where)
            except OSError as error:
                failed = error
        raise failed

    async def _connected_to(self, made: socket.socket, where: Any) -> socket.socket:
        try:
            await self.events.sock_connect(made, where)
        except BaseException:
            made.close()
            raise
        return made

    async def _answer(self, made: socket.socket) -> tuple[bytes, bytes]:
        """The head of a gateway's answer, and what came behind it."""
        received = b""
        while END_OF_HEAD not in received:
            if len(received) > MOST_HEAD_BYTES:
                raise ConnectionError(f"the head of the gateway's answer has no end: {len(received)} bytes")
            more = await self.events.sock_recv(made, _READ_BYTES)
            if not more:
                raise ConnectionError("the gateway closed the connection")
            received += more
        head, _, behind = received.partition(END_OF_HEAD)
        return head, behind

    def serve(self, seconds: float) -> None:
        until_ns = now_ns() + int(seconds * NS_PER_S)
        while not self.coming_back:
            self._take(until_ns)
            if now_ns() >= until_ns:
                return
        # Who connects needs Python's loop, which hears of the others, too, as in the beginning.
        left_s = max(0.0, (until_ns - now_ns()) / NS_PER_S)
        self.events.run_until_complete(asyncio.sleep(left_s))

    def _take(self, until_ns: int) -> None:
        rows, told = self._loops.swarm_serve(self._swarm, until_ns, _ROWS, self._columns)
        if rows:
            assert self._heard_rows is not None
            places, stamps_ns, received_ns = self._columns
            self._heard_rows(places[:rows], stamps_ns[:rows], received_ns[:rows])
        for place, kind, received_ns, said in told:
            if place not in self.gone:
                self._told[kind](place, received_ns, said)
        if (rows or told) and not until_ns:
            # It may have stopped for us at sessions of which it is told only once: nothing else would tell.
            self._again = self.events.call_soon(self._take, 0)

    def _reader(self, place: int) -> TimeReader:
        reader = self._readers.get(place)
        if reader is None:
            reader = self._readers[place] = TimeReader(self.field)
        return reader

    def _told_before(self, place: int, _: int, token: bytes) -> None:
        try:
            self._reader(place).begin_with(_text(token))
        except ValueError as error:
            self._end(place, f"an update cannot be read: {error}")

    def _told_field(self, place: int, received_ns: int, token: bytes) -> None:
        try:
            self.heard(place, self._reader(place).applied(_text(token)), received_ns)
        except ValueError as error:
            self._end(place, f"an update cannot be read: {error}")
            return
        self.counts[place] += 1

    def _told_ping(self, place: int, _: int, payload: bytes) -> None:
        """Who does not read is not answered: the next ping will be."""
        with suppress(OSError):
            self._sockets[place].send(masked_head(_PONG_FRAME, len(payload), NO_MASK) + payload)

    def _told_close(self, place: int, _: int, payload: bytes) -> None:
        with suppress(OSError):
            self._sockets[place].send(masked_head(_CLOSE_FRAME, len(payload), NO_MASK) + payload)
        self._end(place)

    def _end(self, place: int, *why: str) -> None:
        self.lost(place, *why)
        self.forget(place)

    def forget(self, place: int) -> None:
        self._loops.swarm_drop(self._swarm, place)
        self._readers.pop(place, None)
        if (left := self._sockets.pop(place, None)) is not None:
            left.close()

    def close_all(self) -> None:
        if self._again is not None:
            self._again.cancel()
        self.events.remove_reader(self._loops.swarm_fd(self._swarm))
        self._loops.swarm_close(self._swarm)
        for made in self._sockets.values():
            made.close()
        self._sockets = {}


def _text(said: bytes) -> str:
    return said.decode(errors="replace")
