"""Thousands of push sessions in one process: opened one after another, then served together.

How they are read is decided beforehand: in a compiled loop (`native_swarm`), or by its twin on picows.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import uvloop

from streamgauge.core.clock import now_ns
from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.drivers.push.access import GatewayAccess
from streamgauge.drivers.push.lines import OVERFLOW, REFUSALS, is_subscribed
from streamgauge.drivers.push.requests import requests_of
from streamgauge.drivers.push.timed_field import TimedField
from streamgauge.drivers.swarm import Heard, Outage, Swarm, SwarmOptions, allow_open_files
from streamgauge.native.loading import Loop

HANDSHAKE_S = 30.0
_CLOSED = "the gateway closed the connection"
_AT_ONCE = 256
"""Connections on their way at the same time."""
_TRY_AGAIN_S = 0.25
_PER_ADDRESS = 10_000
"""Clients of one source address: it has ports for about 28,000 connections to one server."""
_BIND_LATE = getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24)
"""So that a port is chosen when it is known where to: the same one serves several addresses."""


class PushSwarm(Swarm):
    loop: Loop
    most_message_bytes = 10_485_760
    """Of a message to a session: who sends a longer one is cut off."""

    def __init__(self, options: SwarmOptions, heard: Heard, access: GatewayAccess) -> None:
        super().__init__(options, heard)
        allow_open_files(options.count)
        self.overflown = 0
        self.field = TimedField.of(options.fields, options.kind)
        self.access = access
        items = [f"{options.item}-[key={name}]" for name in options.key_names] or [options.item]
        self._requests = [requests_of(access, item, options.fields, options.max_frequency) for item in items]
        self._closing = False
        self._opening = set[asyncio.Task[None]]()
        self._failure: BaseException | None = None
        self._subscribing: dict[int, asyncio.Future[None]] = {}
        self._subscribed = 0
        self._last_words: dict[int, str] = {}
        self.coming_back: dict[int, asyncio.Task[None]] = {}
        """Clients that have lost their connection, and try to get another."""
        self._next_try_s = 0.0
        self._room = asyncio.Semaphore(_AT_ONCE)
        self.events = uvloop.new_event_loop()

    @abstractmethod
    async def join(self, place: int) -> None:
        """Connect, and say what there is to say; the answers come as lines. OSError where it cannot be."""

    @abstractmethod
    def forget(self, place: int) -> None:
        """Close what is left of a session's connection."""

    def requests(self, place: int) -> list[bytes]:
        return self._requests[self.options.keys[place]]

    def told(self, place: int, line: bytes) -> None:
        """A line that is no update."""
        waiting = self._subscribing.get(place)
        if is_subscribed(line):
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
        elif line.startswith(REFUSALS):
            said = line.decode(errors="replace")
            if waiting is not None and not waiting.done():
                waiting.set_exception(ConnectionError(said))
            else:
                self._last_words[place] = said
        elif line.startswith(OVERFLOW):
            self.overflown += 1

    def lost(self, place: int, why: str = _CLOSED) -> None:
        """A session's connection has ended, or is about to."""
        if self._closing:
            return
        last_words = self._last_words.pop(place, None)
        self.gone.setdefault(place, why if last_words is None else f"{why}, having said {last_words}")
        waiting = self._subscribing.get(place)
        if waiting is not None:
            if not waiting.done():
                waiting.set_exception(ConnectionError(why))
        elif self.options.comes_back and place not in self.coming_back:
            outage = Outage(place, now_ns())
            self.outages.append(outage)
            self.coming_back[place] = self.events.create_task(self._come_back(outage))

    async def _come_back(self, outage: Outage) -> None:
        """All at once would be an attack: they come as fast as they did the first time."""
        place, is_first = outage.place, True
        try:
            while outage.back_ns is None:
                at_s = self._next_try_s = max(
                    self._next_try_s + 1 / self.options.ramp_up_per_s, self.events.time()
                )
                wait_s = at_s - self.events.time() + (0.0 if is_first else _TRY_AGAIN_S)
                await asyncio.sleep(wait_s)
                is_first = False
                async with self._room:
                    why = self.gone.pop(place, _CLOSED)
                    try:
                        await self._open(place)
                        outage.back_ns = now_ns()
                    except (OSError, TimeoutError):
                        self.forget(place)
                        self.gone[place] = why
        finally:
            del self.coming_back[place]

    def connect(self, deadline_s: float, go_on: Callable[[], bool]) -> None:
        try:
            self.events.run_until_complete(self._connect_all(deadline_s, go_on))
        except (OSError, TimeoutError) as error:
            self.events.run_until_complete(self._give_up_opening())
            done, reason = self._subscribed, str(error) or type(error).__name__
            if not done:
                raise Unreachable(
                    f"{self.access.address.url}: no session could be opened: {reason}"
                ) from None
            raise CaseFailed(
                f"only {done:,} of {self.options.count:,} sessions could be opened: {reason}"
            ) from None

    async def _connect_all(self, deadline_s: float, go_on: Callable[[], bool]) -> None:
        begun, room = time.monotonic(), asyncio.Semaphore(_AT_ONCE)
        try:
            async with asyncio.timeout(deadline_s):
                for place in range(self.options.count):
                    if not go_on():
                        break
                    wait_s = begun + place / self.options.ramp_up_per_s - time.monotonic()
                    if wait_s > 0:
                        await asyncio.sleep(wait_s)
                    await room.acquire()
                    self._look_for_failure()
                    task = self.events.create_task(self._open(place))
                    self._opening.add(task)
                    task.add_done_callback(partial(self._opened, room))
                if self._opening:
                    await asyncio.wait(self._opening, return_when=asyncio.FIRST_EXCEPTION)
                self._look_for_failure()
        except TimeoutError:
            raise TimeoutError(f"that took longer than {deadline_s:g} s") from None

    def _look_for_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _open(self, place: int) -> None:
        subscribed = self._subscribing[place] = self.events.create_future()
        try:
            await self.join(place)
            await asyncio.wait_for(subscribed, HANDSHAKE_S)
        except TimeoutError:
            raise ConnectionError(f"the gateway has not answered within {HANDSHAKE_S:g} s") from None
        finally:
            del self._subscribing[place]
            if subscribed.done() and not subscribed.cancelled():
                subscribed.exception()
        self._subscribed += 1

    def _opened(self, room: asyncio.Semaphore, task: asyncio.Task[None]) -> None:
        """Or not; of many that fail together one is told of, and the others are no news."""
        self._opening.discard(task)
        room.release()
        failure = None if task.cancelled() else task.exception()
        self._failure = self._failure or failure

    async def _give_up_opening(self) -> None:
        """Those that are on their way when one has failed: nobody waits for them any more."""
        for task in self._opening:
            task.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)

    def own_socket(self, place: int) -> socket.socket | None:
        """Bound to one of many source addresses, where there is no network between."""
        address = self.access.address
        if not address.is_here or ":" in address.host:
            return None
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.IPPROTO_IP, _BIND_LATE, 1)
        made.bind((source_address(self.options.first + place), 0))
        return made

    def settings_in_force(self) -> dict[str, Any]:
        return {
            "loop": self.loop,
            "gateway": self.access.address.url,
            "adapter_set": self.access.adapter_set,
            "data_adapter": self.access.data_adapter or "",
            "mode": self.access.mode,
            "max_frequency": self.options.max_frequency,
            "fields": " ".join(self.options.fields),
            "sessions": self.options.count,
            "measured": len(self.options.measured),
        }

    def close(self) -> None:
        self._closing = True
        trying = list(self.coming_back.values())
        for task in trying:
            task.cancel()
        self.events.run_until_complete(asyncio.wait(trying) if trying else asyncio.sleep(0))
        self.close_all()
        self.events.run_until_complete(asyncio.sleep(0))
        self.events.close()

    @abstractmethod
    def close_all(self) -> None:
        """Every connection, at once."""


def source_address(client: int) -> str:
    """127.0.1.1, 127.0.1.2 …: one for every 10,000 clients."""
    return str(ipaddress.ip_address("127.0.1.1") + client // _PER_ADDRESS)
