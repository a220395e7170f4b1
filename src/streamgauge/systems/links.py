"""What lies between clients and the members of a system: a TCP proxy for each, of which a stretch can be bad.

It works on streams of bytes and needs no root. What it cannot do is lose a packet: TCP hides that from
clients, and what they feel of it is that everything behind waits (`stalls`), or that the connection is gone
(`reset`).
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from streamgauge.core.errors import SystemFailed

_CHUNK_BYTES = 64 * 1024
_MOST_CHUNKS = 256
"""On their way in one direction of a connection; then whoever sends has to wait, as at a full window."""
_CLOSE_DEADLINE_S = 5.0
_CONNECT_DEADLINE_S = 10.0
_RESET_AT_CLOSE = struct.pack("ii", 1, 0)


class Way(StrEnum):
    TO_SYSTEM = "to_broker"
    TO_CLIENTS = "to_client"


@dataclass(frozen=True)
class Condition:
    """What is wrong with a link."""

    delay_s: float = 0.0
    jitter_s: float = 0.0
    """Up to so much more, anew for every piece; what was sent first still comes first."""
    bytes_per_s: float | None = None
    stall_chance: float = 0.0
    """Of every piece: with it all behind it stands still for `stall_s`."""
    stall_s: float = 0.0
    is_cut: bool = False
    """Nothing passes, and nobody is told; what was under way comes when it is whole again."""
    is_refusing: bool = False
    """Who comes is sent away."""
    ways: frozenset[Way] = frozenset(Way)
    random: Random = field(default_factory=Random, compare=False)
    """What jitter and stalls are drawn from, for all connections together."""

    def added_s(self) -> float:
        """How much later a piece comes."""
        draw = self.random
        stall_s = self.stall_s if self.stall_chance and draw.random() < self.stall_chance else 0.0
        return self.delay_s + (draw.uniform(0, self.jitter_s) if self.jitter_s else 0.0) + stall_s


class _Link:
    """Of one member. All but `conditions` belongs to the thread of the loop."""

    def __init__(self, name: str, address: tuple[str, int], listener: socket.socket) -> None:
        self.name, self.address, self.listener = name, address, listener
        self.conditions: dict[int, Condition] = {}
        self.changed = asyncio.Event()
        self.clients: set[asyncio.StreamWriter] = set()
        self._free_s = dict.fromkeys(Way, 0.0)
        """Until when the bytes before take up the line, where it has a rate."""

    def now(self, way: Way) -> list[Condition]:
        return [condition for condition in list(self.conditions.values()) if way in condition.ways]

    def taken_until_s(self, way: Way, size_bytes: int, now_s: float) -> float:
        """When the last of so many bytes is through."""
        rates = [condition.bytes_per_s for condition in self.now(way) if condition.bytes_per_s is not None]
        if not rates:
            return now_s
        self._free_s[way] = max(now_s, self._free_s[way]) + size_bytes / min(rates)
        return self._free_s[way]

    def change(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def reset(self) -> None:
        for client in list(self.clients):
            _reset(client)


class Links:
    """`places`: by name of a member, where it listens for clients. It may not listen yet."""

    def __init__(self, places: Mapping[str, tuple[str, int]]) -> None:
        self._links: dict[str, _Link] = {}
        try:
            for name, address in places.items():
                self._links[name] = _Link(name, address, _listener(address[0]))
        except BaseException:
            self._close_listeners()
            raise
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="links", daemon=True)
        self._thread.start()

    @property
    def ports(self) -> dict[str, int]:
        """By name: where clients come instead."""
        return {name: link.listener.getsockname()[1] for name, link in self._links.items()}

    @property
    def names(self) -> list[str]:
        return list(self._links)

    def disturb(self, names: Iterable[str], condition: Condition) -> int:
        """From now on; what is given back ends it. Several at once add up."""
        number = next(self._numbers)
        for name in names:
            self._links[name].conditions[number] = condition
        self._tell_all()
        return number

    def clear(self, number: int) -> None:
        for link in self._links.values():
            link.conditions.pop(number, None)
        self._tell_all()

    def reset(self, names: Iterable[str]) -> None:
        """Every connection of these links is gone at once, and both ends know it."""
        for name in names:
            self._call(self._links[name].reset)

    def restore(self) -> None:
        for link in self._links.values():
            link.conditions.clear()
        self._tell_all()

    def close(self) -> None:
        self._call(self._loop.stop)
        self._thread.join(_CLOSE_DEADLINE_S)
        self._close_listeners()

    def _tell_all(self) -> None:
        for link in self._links.values():
            self._call(link.change)

    def _call(self, act: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # it is closed: then there is nothing to disturb
            self._loop.call_soon_threadsafe(act)

    def _close_listeners(self) -> None:
        for link in self._links.values():
            link.listener.close()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            for link in self._links.values():
                self._loop.run_until_complete(self._open(link))
            self._loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            # So that they let go of their sockets.
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.close()

    async def _open(self, link: _Link) -> None:
        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(asyncio.CancelledError):  # whoever cancels has closed us
                await _carry(link, reader, writer)

        await asyncio.start_server(meet, sock=link.listener)


def _listener(host: str) -> socket.socket:
    try:
        return socket.create_server((host, 0), backlog=512, family=_family(host))
    except OSError as error:
        raise SystemFailed(f"no port on {host} for a link between clients and system: {error}") from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


async def _carry(link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, both ways, until one of its ends is closed."""
    if any(condition.is_refusing for condition in list(link.conditions.values())):
        _reset(writer)
        return
    try:
        async with asyncio.timeout(_CONNECT_DEADLINE_S):
            there_reader, there_writer = await asyncio.open_connection(*link.address)
    except (OSError, TimeoutError):
        _reset(writer)  # nobody is there: as a closed port says it
        return
    link.clients.add(writer)
    for end in (writer, there_writer):
        end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        ways = {
            asyncio.create_task(_pump(link, Way.TO_SYSTEM, reader, there_writer)),
            asyncio.create_task(_pump(link, Way.TO_CLIENTS, there_reader, writer)),
        }
        _, left = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
    finally:
        link.clients.discard(writer)
        for end in (writer, there_writer):
            with suppress(Exception):
                end.close()


async def _pump(link: _Link, way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """In two halves: what is slow to arrive must not keep others from being sent."""
    loop = asyncio.get_running_loop()
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_MOST_CHUNKS)

    async def take() -> None:
        due_s, data = 0.0, b"-"
        while data:
            try:
                data = await reader.read(_CHUNK_BYTES)
            except OSError:
                data = b""
            added_s = sum(condition.added_s() for condition in link.now(way))
            due_s = max(due_s, loop.time() + added_s)
            await under_way.put((due_s, data))

    taking = asyncio.create_task(take())
    try:
        while True:
            due_s, data = await under_way.get()
            if (wait_s := due_s - loop.time()) > 0:
                await asyncio.sleep(wait_s)
            while any(condition.is_cut for condition in link.now(way)):
                await link.changed.wait()
            if not data:
                return
            if (wait_s := link.taken_until_s(way, len(data), loop.time()) - loop.time()) > 0:
                await asyncio.sleep(wait_s)
            writer.write(data)
            await writer.drain()
    except OSError:
        return
    finally:
        taking.cancel()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Its peer is told that there is no such connection, and does not wait for an answer."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
    writer.transport.abort()
