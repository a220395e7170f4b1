"""Honest clients, very many: each follows the ticks, notes how late they come and whether one is missing.

Told "mark": the figures since the last mark. Told "cut": break all connections, come back all at once, and
recover the sessions.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import time
from array import array
from typing import Any, cast

import numpy as np
import uvloop

from .programs import TICKS, obey, say
from .wire_bytes import CREATE, UPGRADE, frame, subscribe

_UPDATE = b"U,1,1,"
_COUNTED = (_UPDATE, b"SUBOK", b"CONF", b"OV", b"UNSUB", b"EOS", b"CS")
_TROUBLE = (b"OV", b"CONERR", b"REQERR", b"ERROR", b"END", b"LOOP", b"UNSUB")
_BIND_LATE = getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24)
_COME_DEADLINE_S, _SETTLE_DEADLINE_S = 120.0, 60.0
_AT_ONCE = 2000
"""Connections on their way at the same time: more than that the kernel drops (its backlog is 4,096)."""


class Client(asyncio.Protocol):
    __slots__ = (
        "_buffer",
        "_crowd",
        "_is_upgraded",
        "_transport",
        "address",
        "back",
        "count",
        "last",
        "session",
    )

    def __init__(self, crowd: Crowd, address: str) -> None:
        self._crowd, self.address = crowd, address
        self.session = ""
        self.count = 0
        """Data notifications so far: where a recovered session goes on."""
        self.last = -1
        """The number of the last tick."""

    def come(self, back: asyncio.Future[None]) -> None:
        self.back, self._buffer, self._is_upgraded = back, b"", False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(UPGRADE)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.back.done():
            self.back.set_exception(ConnectionError(f"closed before it was bound: {exc}"))
        elif not self._crowd.is_cutting:
            self._crowd.told("closed")

    def cut(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        self._buffer += data
        if not self._is_upgraded:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self.back.set_exception(ConnectionError(head.decode()))
                return
            self._buffer, self._is_upgraded = rest, True
            self._transport.write(self._hello())
        while (payload := self._message()) is not None:
            for line in payload.split(b"\r\n"):
                self._take(line, now_ns)

    def _hello(self) -> bytes:
        if self.session:
            bound = f"bind_session\r\nLS_session={self.session}&LS_recovery_from={self.count}"
            return frame("wsok") + frame(bound)
        everything = "&LS_requested_max_frequency=unfiltered&LS_snapshot=false"
        wanted = subscribe(TICKS, "number due_ns", more=everything)
        return frame("wsok") + frame(f"create_session\r\n{CREATE}") + frame(wanted)

    def _message(self) -> bytes | None:
        """The next whole frame; the server makes none of several parts."""
        data = self._buffer
        if len(data) < 2:
            return None
        size, at = data[1], 2
        if size == 126:
            if len(data) < 4:
                return None
            [size] = struct.unpack_from(">H", data, 2)
            at = 4
        elif size == 127:
            if len(data) < 10:
                return None
            [size] = struct.unpack_from(">Q", data, 2)
            at = 10
        if len(data) < at + size:
            return None
        self._buffer = data[at + size :]
        return data[at : at + size]

    def _take(self, line: bytes, now_ns: int) -> None:
        if line.startswith(_COUNTED):
            self.count += 1
        if line.startswith(_UPDATE):
            number, due_ns = map(int, line[6:].split(b"|"))
            if self.last >= 0 and number != self.last + 1:
                self._crowd.told("missing" if number > self.last else "repeated")
            self.last = number
            self._crowd.late_ns.append(now_ns - due_ns)
        elif line.startswith(b"CONOK"):
            session = line.split(b",")[1].decode()
            if self.session and not self.back.done():
                self.back.set_result(None)
            self.session = session
        elif line.startswith(b"CONF") and not self.back.done():
            self.back.set_result(None)
        elif line.startswith(_TROUBLE):
            self._crowd.told(line.split(b",")[0].decode())
            if not self.back.done():
                self.back.set_exception(ConnectionError(line.decode()))


class Crowd:
    def __init__(self, port: int, count: int, per_address: int) -> None:
        self._port = port
        self._clients = [Client(self, f"127.0.1.{1 + place // per_address}") for place in range(count)]
        self.late_ns = array("q")
        self.trouble: dict[str, int] = {}
        self.is_cutting = False

    def told(self, what: str) -> None:
        self.trouble[what] = self.trouble.get(what, 0) + 1

    async def come(self) -> dict[str, Any]:
        """All of them; when they have a session and are subscribed."""
        some_at_once = asyncio.Semaphore(_AT_ONCE)
        async with asyncio.timeout(_COME_DEADLINE_S):
            await asyncio.gather(*[self._come(client, some_at_once) for client in self._clients])
        return {"clients": len(self._clients)}

    async def cut(self) -> dict[str, Any]:
        self.is_cutting = True
        for client in self._clients:
            client.cut()
        await asyncio.sleep(0.1)
        self.is_cutting = False
        return await self.come()

    async def mark(self) -> dict[str, Any]:
        """The figures since the last mark, when everybody has what the first one has now."""
        newest, until_s = max(client.last for client in self._clients), time.monotonic() + _SETTLE_DEADLINE_S
        while (
            behind := sum(client.last < newest for client in self._clients)
        ) and time.monotonic() < until_s:
            await asyncio.sleep(0.05)
        late_ms = np.frombuffer(self.late_ns, dtype=np.int64) / 1e6 if self.late_ns else np.zeros(1)
        p50, p99, most = np.percentile(late_ms, (50, 99, 100))
        told = {
            "received": len(self.late_ns),
            "behind": behind,
            "trouble": self.trouble,
            "p50_ms": round(float(p50), 2),
            "p99_ms": round(float(p99), 2),
            "max_ms": round(float(most), 2),
        }
        self.late_ns, self.trouble = array("q"), {}
        return told

    async def _come(self, client: Client, some_at_once: asyncio.Semaphore) -> None:
        loop = asyncio.get_running_loop()
        async with some_at_once:
            client.come(loop.create_future())
            raw = socket.socket()
            raw.setblocking(False)
            raw.setsockopt(socket.IPPROTO_IP, _BIND_LATE, 1)
            # A port that was used is free again at once: there are not enough for all rounds.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raw.bind((client.address, 0))
            await loop.sock_connect(raw, ("127.0.0.1", self._port))
            await loop.create_connection(lambda: client, sock=raw)
            await client.back


async def main() -> None:
    given = json.loads(sys.argv[1])
    crowd = Crowd(given["port"], given["count"], given["per_address"])
    say(**await crowd.come())
    await obey({"mark": crowd.mark, "cut": crowd.cut})


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
