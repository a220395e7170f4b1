"""One connection of an attacker: nothing is read that the attack does not ask for."""

from __future__ import annotations

import asyncio
import socket

from .wire_bytes import CREATE, UPGRADE, frame


class Gone(Exception):
    """The server has ended the connection, or refused what was asked."""


class Peer:
    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw
        self._loop = asyncio.get_running_loop()

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._raw, data)

    async def read(self) -> bytes:
        data = await self._loop.sock_recv(self._raw, 65_536)
        if not data:
            raise Gone
        return data

    async def read_until(self, mark: bytes) -> bytes:
        """Up to a mark, and whatever came along; in WebSocket frames marks are not cut apart."""
        data = b""
        while mark not in data:
            data += await self.read()
            if b"CONERR" in data or b"REQERR" in data:
                raise Gone
        return data

    async def until_gone(self) -> None:
        """Read until the server ends it, which is Gone; else it goes on until the visit is over."""
        while True:
            await self.read()

    async def upgrade(self) -> None:
        await self.send(UPGRADE)
        if b" 101 " not in await self.read_until(b"\r\n\r\n"):
            raise Gone

    async def open_session(self) -> str:
        await self.upgrade()
        await self.send(frame("wsok") + frame(f"create_session\r\n{CREATE}"))
        said = await self.read_until(b"CONS,")
        return said.partition(b"CONOK,")[2].partition(b",")[0].decode()
