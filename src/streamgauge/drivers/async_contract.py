"""The contract's twin for client libraries that live in an event loop.

The same words mean the same things as in `contract`; only the waiting differs. `event_loop` presents
such a producer or consumer to agents, which know the blocking contract only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from streamgauge.drivers.contract import ClientFacts, Received
from streamgauge.drivers.fates import Fates
from streamgauge.payload.making import Outgoing


class AsyncClient(ABC, ClientFacts):
    @abstractmethod
    async def start(self) -> None:
        """Connect, inside the loop that all other calls come from; else raise Unreachable or BadInput."""

    @abstractmethod
    async def close(self) -> None: ...


class AsyncProducer(AsyncClient):
    @abstractmethod
    async def send(self, batch: Outgoing, topic: int, fates: Fates) -> None:
        """Hand over the whole batch, waiting where the library makes its callers wait.

        What becomes of each message is told to `fates`, now or later.
        """

    def flush_soon(self) -> None:
        """No more messages will come: hold nothing back."""


class AsyncConsumer(AsyncClient):
    @abstractmethod
    async def assign(self, start: Mapping[tuple[int, int], int]) -> None: ...

    @abstractmethod
    async def wait_ready(self, deadline_s: float) -> None: ...

    @abstractmethod
    async def poll(self, timeout_s: float) -> Received | None: ...

    @abstractmethod
    async def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool: ...

    def dealt_count(self) -> int | None:
        """Also asked from another thread."""
        return None
