"""Thousands of push sessions on one event loop."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import picows
import uvloop

from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.drivers.push.access import GatewayAccess
from streamgauge.drivers.push.sessions import (
    SUBPROTOCOL,
    LoadSession,
    MeasuredSession,
    requests_of,
    stamp_reader,
)
from streamgauge.drivers.swarm import Heard, Swarm, SwarmOptions, allow_open_files

# An adapter: of a plain logger picows would make a child for each connection, and keep it.
_LOGGER = logging.LoggerAdapter(logging.getLogger("streamgauge.push"), {})
_AT_ONCE = 256
"""Connections on their way at the same time."""
_PER_ADDRESS = 10_000
"""Clients of one source address: it has ports for about 28,000 connections to one server."""
_BUFFER_BYTES = 2048
_BIND_LATE = getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24)
"""So that a port is chosen when it is known where to: the same one serves several addresses."""
_HANDSHAKE_S = 30.0


class PushSwarm(Swarm):
    def __init__(self, options: SwarmOptions, heard: Heard, access: GatewayAccess) -> None:
        super().__init__(options, heard)
        allow_open_files(options.count)
        self.overflown = 0
        self.stamp_of = stamp_reader(options.fields, options.kind)
        self._access, self._tls = access, access.context()
        self._url = access.address.url
        items = [f"{options.item}-[key={name}]" for name in options.key_names] or [options.item]
        self._requests = [requests_of(access, item, options.fields, options.max_frequency) for item in items]
        self._sessions: list[LoadSession] = []
        self._closing = False
        self._opening = set[asyncio.Task[None]]()
        self._loop = uvloop.new_event_loop()

    def requests(self, place: int) -> list[bytes]:
        return self._requests[self.options.keys[place]]

    def lost(self, place: int, why: str) -> None:
        if not self._closing:
            self.gone.setdefault(place, why)

    def connect(self, deadline_s: float, go_on: Callable[[], bool]) -> None:
        try:
            self._loop.run_until_complete(self._connect_all(deadline_s, go_on))
        except (ConnectionError, OSError, picows.WSError, TimeoutError) as error:
            self._loop.run_until_complete(self._give_up_opening())
            done = sum(session.subscribed.done() for session in self._sessions)
            reason = str(error) or type(error).__name__
            if not done:
                raise Unreachable(f"{self._url}: no session could be opened: {reason}") from None
            raise CaseFailed(
                f"only {done:,} of {self.options.count:,} sessions could be opened: {reason}"
            ) from None

    async def _connect_all(self, deadline_s: float, go_on: Callable[[], bool]) -> None:
        begun, pending = time.monotonic(), set[asyncio.Task[None]]()
        for place in range(self.options.count):
            if not go_on():
                break
            due = begun + place / self.options.ramp_up_per_s
            while (wait_s := due - time.monotonic()) > 0 or len(pending) >= _AT_ONCE:
                if len(pending) >= _AT_ONCE:
                    done, pending = await asyncio.wait(
                        pending, timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED
                    )
                    _look_at(done)
                else:
                    await asyncio.sleep(wait_s)
                if time.monotonic() > begun + deadline_s:
                    raise TimeoutError(f"that took longer than {deadline_s:g} s")
            task = self._loop.create_task(self._open(place))
            self._opening.add(task)
            task.add_done_callback(self._opened)
            pending.add(task)
        if pending:
            left_s = max(0.1, begun + deadline_s - time.monotonic())
            done, late = await asyncio.wait(pending, timeout=left_s)
            _look_at(done)
            if late:
                raise TimeoutError(f"that took longer than {deadline_s:g} s")

    def _opened(self, task: asyncio.Task[None]) -> None:
        """Or not; of many that fail together one is told of, and the others are no news."""
        self._opening.discard(task)
        if not task.cancelled():
            task.exception()

    async def _give_up_opening(self) -> None:
        """Those that are on their way when one has failed: nobody waits for them any more."""
        for task in self._opening:
            task.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)

    async def _open(self, place: int) -> None:
        kind = MeasuredSession if place in self.options.measured else LoadSession
        session = kind(self, place, self._loop.create_future())
        made = self._socket(place)
        try:
            await picows.ws_connect(
                lambda: session,
                self._url,
                ssl_context=self._tls,
                logger_name=_LOGGER,
                websocket_handshake_timeout=_HANDSHAKE_S,
                read_buffer_init_size=_BUFFER_BYTES,
                extra_headers={"Sec-WebSocket-Protocol": SUBPROTOCOL},
                socket_factory=lambda _: made,
                max_redirects=0,
                proxy=None,
            )
        except BaseException:
            # It is ours until a connection has it: where nobody listens none ever does.
            if made is not None:
                made.close()
            raise
        self._sessions.append(session)
        await asyncio.wait_for(session.subscribed, _HANDSHAKE_S)

    def _socket(self, place: int) -> socket.socket | None:
        """Bound to one of many source addresses, where there is no network between."""
        address = self._access.address
        if not address.is_here or ":" in address.host:
            return None
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.IPPROTO_IP, _BIND_LATE, 1)
        made.bind((source_address(self.options.first + place), 0))
        return made

    def serve(self, seconds: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def settings_in_force(self) -> dict[str, Any]:
        return {
            "library": " ".join(f"{name} {version(name)}" for name in ("picows", "uvloop")),
            "gateway": self._url,
            "adapter_set": self._access.adapter_set,
            "data_adapter": self._access.data_adapter or "",
            "mode": self._access.mode,
            "max_frequency": self.options.max_frequency,
            "fields": " ".join(self.options.fields),
            "sessions": self.options.count,
            "measured": len(self.options.measured),
        }

    def close(self) -> None:
        self._closing = True
        for session in self._sessions:
            if session.transport is not None:
                session.transport.disconnect(graceful=False)
        self._sessions = []
        self._loop.run_until_complete(asyncio.sleep(0.05))
        self._loop.close()


def source_address(client: int) -> str:
    """127.0.1.1, 127.0.1.2 …: one for every 10,000 clients."""
    return str(ipaddress.ip_address("127.0.1.1") + client // _PER_ADDRESS)


def _look_at(done: set[asyncio.Task[None]]) -> None:
    for task in done:
        task.result()
