"""The one adapter from the asynchronous contract to the blocking one.

Each client gets an event loop in a thread of its own. What that costs (decision 8): a thread switch a
call, that is a batch, and one interpreter that both threads share.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

from streamgauge.core.errors import CaseFailed, StreamgaugeError, Unreachable
from streamgauge.drivers.async_contract import AsyncClient, AsyncConsumer, AsyncProducer
from streamgauge.drivers.contract import Acks, Consumer, Producer, Received, SharedSetting
from streamgauge.drivers.fates import Fates
from streamgauge.payload.making import Outgoing

_Answer = TypeVar("_Answer")

ADMIN_S = 15.0
"""How long a driver waits for what it asks its server."""
_START_S = 60.0
_CLOSE_S = 5.0
_GRACE_S = 10.0
"""How much later than it should a call may come back."""


class LoopThread:
    """An event loop that runs until it is closed."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="event-loop", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _Answer], deadline_s: float) -> _Answer:
        """Do it in the loop, and wait for it."""
        waiting = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return waiting.result(deadline_s)
        except TimeoutError:
            waiting.cancel()
            raise CaseFailed(f"the client's event loop did not answer within {deadline_s:g} s") from None

    def close(self) -> None:
        with suppress(CaseFailed, CancelledError):
            self.run(_cancel_others(), _CLOSE_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_CLOSE_S)
        if not self._thread.is_alive():
            self.loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class AdminLoop:
    """Where a driver itself asks its server; the loop is made with the first question."""

    def __init__(self, server: str, failures: tuple[type[Exception], ...]) -> None:
        """`server`: as it is spoken of; `failures`: what its library raises when it cannot be asked."""
        self._server, self._failures = server, failures
        self._thread: LoopThread | None = None

    def run(self, work: Coroutine[Any, Any, _Answer], deadline_s: float = ADMIN_S) -> _Answer:
        self._thread = self._thread or LoopThread()
        try:
            return self._thread.run(work, deadline_s)
        except StreamgaugeError:
            raise
        except self._failures as error:
            raise Unreachable(f"{self._server}: {str(error) or type(error).__name__}") from None

    def close(self, connection: Any = None) -> None:
        """`connection`: what was opened in the loop, and is closed there."""
        if connection is not None:
            self.run(connection.close())
        if self._thread is not None:
            self._thread.close()
            self._thread = None


class _Blocking:
    """What producers and consumers have in common."""

    def __init__(self, client: AsyncClient) -> None:
        self._any_client = client
        self._thread = LoopThread()
        try:
            self._thread.run(client.start(), _START_S)
        except BaseException:
            self.close()
            raise

    def settings_in_force(self) -> dict[str, Any]:
        return self._any_client.settings_in_force()

    def shared_settings(self) -> list[SharedSetting]:
        return self._any_client.shared_settings()

    def counters(self) -> dict[str, int]:
        return self._any_client.counters()

    def close(self) -> None:
        try:
            with suppress(CaseFailed):  # a broker that is gone keeps nobody
                self._thread.run(self._any_client.close(), _CLOSE_S)
        finally:
            self._thread.close()


class BlockingProducer(_Blocking, Producer):
    """Takes batches at once and lets the loop hand them over, in turn, as fast as the library takes them."""

    def __init__(self, client: AsyncProducer) -> None:
        super().__init__(client)
        self._client = client
        self._fates = Fates()
        self._batches: asyncio.Queue[tuple[Outgoing, int]] = asyncio.Queue()
        self._failure: BaseException | None = None
        self._handing_over = asyncio.run_coroutine_threadsafe(self._hand_over(), self._thread.loop)

    def send(self, batch: Outgoing, topic: int) -> int:
        count = min(len(batch), self._fates.room(len(batch.values[0])))
        if count:
            self._fates.taken(count)
            item = (batch if count == len(batch) else batch.head(count), topic)
            self._thread.loop.call_soon_threadsafe(self._batches.put_nowait, item)
        return count

    async def _hand_over(self) -> None:
        try:
            while True:
                batch, topic = await self._batches.get()
                await self._client.send(batch, topic, self._fates)
        except Exception as error:  # raised where the agent looks for acks
            self._failure = error

    def poll(self, timeout_s: float) -> Acks | None:
        if self._failure is not None:
            raise CaseFailed(f"the producer cannot go on: {self._failure}") from self._failure
        return self._fates.take(timeout_s)

    def outstanding(self) -> int:
        return self._fates.outstanding()

    def flush_soon(self) -> None:
        self._thread.loop.call_soon_threadsafe(self._client.flush_soon)


class BlockingConsumer(_Blocking, Consumer):
    """Every call goes through the loop; the library reads ahead there by itself."""

    def __init__(self, client: AsyncConsumer) -> None:
        super().__init__(client)
        self._client = client

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self._thread.run(self._client.assign(start), _GRACE_S)

    def wait_ready(self, deadline_s: float) -> None:
        self._thread.run(self._client.wait_ready(deadline_s), deadline_s + _GRACE_S)

    def poll(self, timeout_s: float) -> Received | None:
        return self._thread.run(self._client.poll(timeout_s), timeout_s + _GRACE_S)

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return self._thread.run(self._client.caught_up(ends), _GRACE_S)

    def dealt_count(self) -> int | None:
        return self._client.dealt_count()
