"""One connection to RabbitMQ's stream listener, by rstream's client.

Not rstream's Producer and Consumer: these call back for every message, and connect again behind the
back of whoever measures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from rstream import OffsetType, exceptions, schema
from rstream.client import Client

from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.drivers.server_address import ServerAddress

_CONNECT_S = 10.0
_CLOSE_S = 3.0
_FRAME_BYTES = 1 << 20
_HEARTBEAT_S = 60
_GUEST = "guest"
_PROBE = 255
"""Subscription that asks where a stream ends."""

FAILURES = (exceptions.ServerError, exceptions.ClientError, OSError, TimeoutError)


class Connection:
    """`client` is rstream's."""

    def __init__(self, address: ServerAddress, who: str) -> None:
        self._address = address
        self._lost: str | None = None
        self.when_lost: Callable[[str], None] | None = None
        """Called with the reason, once, when the server goes away."""
        self.client = Client(
            address.host,
            address.port,
            frame_max=_FRAME_BYTES,
            heartbeat=_HEARTBEAT_S,
            connection_name=who,
            connection_closed_handler=self._on_closed,
        )
        # Else rstream tells nobody when a connection that nobody waits on is gone.
        self.client.add_stream(who)

    @classmethod
    async def opened(cls, address: ServerAddress, who: str) -> Connection:
        made = cls(address, who)
        try:
            async with asyncio.timeout(_CONNECT_S):
                await made.client.start()
                await made.client.authenticate("/", address.username or _GUEST, address.password or _GUEST)
        except FAILURES as error:
            await made.close()
            raise Unreachable(f"RabbitMQ at {address}: {str(error) or type(error).__name__}") from None
        return made

    @property
    def is_open(self) -> bool:
        return self._lost is None and bool(self.client.is_connection_alive())

    def check(self) -> None:
        if not self.is_open:
            raise CaseFailed(self._why_gone())

    def _why_gone(self) -> str:
        return f"RabbitMQ at {self._address} is gone: {self._lost or 'the connection is closed'}"

    def _on_closed(self, about: Any) -> None:
        self._lost = str(about.reason)
        if self.when_lost is not None:
            self.when_lost(self._why_gone())

    async def take_chunks(self, take: Callable[[Any], Awaitable[None] | None]) -> None:
        """Chunks of all subscriptions go to `take`, one after the other."""
        self.client.add_handler(schema.Deliver, take, name="0")
        await self.client.run_queue_listener_task(0, take)

    async def end_of(self, stream: str) -> int:
        """The offset behind the last message: RabbitMQ 3.10 tells it with the last chunk only.

        It sends what there is of a subscription before it takes the next question: a chunk that has not
        come when that one is answered does not exist.
        """
        ends: list[int] = []

        def take(chunk: Any) -> None:
            ends.append(chunk.chunk_first_offset + chunk.num_records)

        await self.take_chunks(take)
        await self.client.subscribe(stream, _PROBE, schema.OffsetSpec(OffsetType.LAST), initial_credit=1)
        await self.client.unsubscribe(_PROBE)
        await self.client.stop_queue_listener_task(0)
        return ends[-1] if ends else 0

    async def close(self) -> None:
        # However it ends: nothing is asked of it any more.
        with suppress(Exception):
            await asyncio.wait_for(self.client.close(), _CLOSE_S)
        # rstream leaves the socket open when the server went first.
        left, self.client._conn = self.client._conn, None
        with suppress(Exception):
            if left is not None:
                await asyncio.wait_for(left.close(), _CLOSE_S)


def stream_name(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"
